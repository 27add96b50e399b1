import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { PolicyChanges } from '../../policy/change/change.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';
import { rollBack } from '../../transfer/revisions/rollback.ts';
import { seedFirstSource } from './first-source.ts';
import { listSources } from './source-store.ts';

const TESTER = { name: 'tester', address: null };
let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

test('the default list is kept when the first change of a user is undone', async () => {
  const { database } = own;
  await seedFirstSource(database);
  await seedFirstSource(database);
  const before = await listSources(database);
  const policy = new PolicyChanges(database, { apply: async () => undefined, threadsBehind: () => 0 });
  await policy.change(TESTER, async (tx) => {
    await tx.query('DELETE FROM list_sources');
    await tx.query(`INSERT INTO clients (ip_address, name) VALUES ('192.0.2.7', 'tv')`);
    const summary = { subject: codedSubject('policy'), action: codedAction('changed') };
    return { result: null, summary };
  });
  const installed = (await listRevisions(database)).at(-1)!;
  expect(installed).toMatchObject({
    ...{ summary: 'Weir: installed', is_own: true, can_rollback: true },
    codes: { subject: codedSubject('weir'), action: codedAction('installed') },
  });
  const parts = { database, policy, clients: new ClientDirectory(), activateRestored: async () => undefined };
  await rollBack(parts, installed.id, TESTER);
  expect([before.length, await listSources(database)]).toEqual([1, before]);
  expect((await database.query('SELECT FROM clients')).rows).toEqual([]);
});
