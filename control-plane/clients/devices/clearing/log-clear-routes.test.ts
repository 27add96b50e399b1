import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RunningApi } from '../../../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import type { QueryLogClear } from '../../../../shared/api/clearing/query-log-clears-api.ts';
import { logClearRoutes } from './log-clear-routes.ts';

let suite: SuiteDatabase;
let api: RunningApi;
let wakes = 0;
beforeAll(async () => {
  suite = await openSuiteDatabase();
  const clients = {
    placesOf: (id: number) => (id === 7 ? ['192.0.2.7'] : undefined),
    idsOf: (id: number) => [id],
    get: (id: number) =>
      id === 7 ? { name: null, hostname: 'kit.lan', mac: null, ip: '192.0.2.7' } : undefined,
  };
  api = await RunningApi.start(suite.database, (parts) =>
    logClearRoutes({ ...parts, clients, logClearing: { wake: () => (wakes += 1) } }),
  );
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const post = (json: unknown) => api.send('POST', '/api/queries/clears', { json });

describe('POST /queries/clears', () => {
  test('stores the deletion for all nodes and in the audit log, and starts it', async () => {
    const answer = await post({ client_id: 7, from: '2026-01-01T00:00:00Z' });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      client_name: 'kit.lan',
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-01-15T12:00:00.000Z',
      state: 'running',
      progress: 0,
      rows: 0,
    });
    expect(wakes).toBe(1);
    const { rows } = await suite.database.query('SELECT action, subject, after FROM audit_log');
    const after = { client_id: 7, client: 'kit.lan', from: '2026-01-01T00:00:00Z' };
    expect(rows).toEqual([{ action: 'cleared', subject: 'query log', after }]);
    const listed = (await api.send('GET', '/api/queries/clears')).body as QueryLogClear[];
    expect(listed).toEqual([answer.body]);
  });

  test.each([
    ['an unknown client', { client_id: 8 }, 400, 'client_id'],
    ['a reversed period', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 400, 'to'],
    ['an empty period', { from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 400, 'to'],
    ['a period in the future', { from: '2026-02-01T00:00:00Z', to: '2026-03-01T00:00:00Z' }, 400, 'from'],
    ['a period from now on', { from: '2026-01-15T12:00:00Z' }, 400, 'from'],
    ['other fields', { domain: 'example.org' }, 400, 'domain'],
  ])('refuses %s, and deletes nothing', async (_what, json, status, path) => {
    const before = wakes;
    const answer = await post(json);
    expect([answer.status, answer.problem.errors?.[0]?.path]).toEqual([status, path]);
    expect(wakes).toBe(before);
  });

  test('limits the period to the current time', async () => {
    expect((await post({ to: '2027-01-01T00:00:00Z' })).body).toMatchObject({
      from: null,
      to: '2026-01-15T12:00:00.000Z',
    });
  });
});
