import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RunningApi } from '../../../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import { clientClearRoutes } from './client-clear-routes.ts';

let suite: SuiteDatabase;
let api: RunningApi;
const removed: number[] = [];
beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, (parts) =>
    clientClearRoutes({ ...parts, clients: { remove: (id) => removed.push(id) } }),
  );
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const clear = (json: unknown) => api.send('POST', '/api/clients/clear', { json });

test('POST /clients/clear deletes clients without settings, of a period or of all time, and no others', async () => {
  await suite.database.query(
    `INSERT INTO clients (id, ip_address, name, last_seen) VALUES
       (1, '192.0.2.1', NULL, '2026-01-01T10:00:00Z'), (2, '192.0.2.2', NULL, '2026-01-02T10:00:00Z'),
       (3, '192.0.2.3', 'Kit', '2026-01-01T10:00:00Z'), (4, '192.0.2.4', NULL, NULL)`,
  );
  const period = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  expect((await clear({ ...period, dry_run: true })).body).toEqual({ deleted: 0, left: 1, kept: 1 });
  expect((await clear(period)).body).toEqual({ deleted: 1, left: 0, kept: 1 });
  expect(removed).toEqual([1]);
  expect((await clear({})).body).toEqual({ deleted: 2, left: 0, kept: 1 });
  expect((await clear({})).body).toEqual({ deleted: 0, left: 0, kept: 1 });
  const { rows } = await suite.database.query('SELECT id FROM clients');
  expect(rows).toEqual([{ id: 3 }]);
  const entries = await suite.database.query(`SELECT action, subject, before FROM audit_log ORDER BY id`);
  expect(entries.rows[0]).toEqual({
    action: 'cleared',
    subject: 'clients',
    before: { ...period, clients: 1 },
  });
});

test.each([
  ['reversed', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'to'],
  ['in the future', { from: '2027-01-02T00:00:00Z' }, 'from'],
])('POST /clients/clear refuses a period that is %s', async (_what, json, path) => {
  const { status, problem } = await clear(json);
  expect([status, problem.errors?.[0]?.path]).toEqual([400, path]);
});
