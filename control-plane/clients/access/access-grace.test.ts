/** The one-day grace period, which a migration sets when a release starts to refuse clients. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';

let suite: TestDatabase;
beforeAll(async () => {
  suite = await startTestDatabase();
});
afterAll(() => suite.stop());

const graceEndMs = async (): Promise<number | null> =>
  (await readPolicyRows(suite.database, () => undefined)).accessGraceEndMs;

test('accessGraceEndMs is null for a new installation', async () => {
  expect(await graceEndMs()).toBeNull();
});

test('accessGraceEndMs of an upgraded installation is the time that the migration stored', async () => {
  await asOwner(suite.database, `INSERT INTO access_grace (ends_at) VALUES ('2026-01-02T03:04:05.678Z')`);
  expect(await graceEndMs()).toBe(Date.parse('2026-01-02T03:04:05.678Z'));
});
