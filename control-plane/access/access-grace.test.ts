/** The day of grace: only for an installation that had clients when it was upgraded. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asOwner } from '../../test/support/parts/as-owner.ts';
import { startTestDatabase, type TestDatabase } from '../../test/support/parts/test-database.ts';
import { readPolicyRows } from '../policy/policy-store.ts';

const DAY_MS = 86_400_000;
const [, UP, DOWN] = readFileSync(
  new URL('../../migrations/0046_access-grace.sql', import.meta.url),
  'utf8',
).split(/^-- (?:Up|Down) Migration$/m) as [string, string, string];

let suite: TestDatabase;
beforeAll(async () => {
  suite = await startTestDatabase();
});
afterAll(() => suite.stop());

const graceEndMs = async (): Promise<number | null> =>
  (await readPolicyRows(suite.database, () => undefined)).accessGraceEndMs;

/** Upgrades from the release before. */
async function upgrade(): Promise<void> {
  await asOwner(suite.database, DOWN);
  await asOwner(suite.database, UP);
}

test('a new installation has no grace', async () => {
  expect(await graceEndMs()).toBeNull();
});

test('an upgraded installation has a day if it had public clients in the last week', async () => {
  const seen = (age: string) =>
    suite.database.query(
      `INSERT INTO clients (ip_address, last_seen) VALUES ('203.0.113.${String(age.length)}', now() - interval '${age}')`,
    );
  await seen('8 days');
  for (const address of ['127.0.0.1', '10.1.2.3', '192.168.1.7', '100.64.0.9', 'fe80::7', 'fd00::7'])
    await suite.database.query('INSERT INTO clients (ip_address, last_seen) VALUES ($1, now())', [address]);
  await upgrade();
  expect(await graceEndMs()).toBeNull();
  await seen('6 days 23 hours');
  const before = Date.now();
  await upgrade();
  const endMs = (await graceEndMs())!;
  expect(endMs).toBeGreaterThanOrEqual(before + DAY_MS - 1000);
  expect(endMs).toBeLessThanOrEqual(Date.now() + DAY_MS + 1000);
});
