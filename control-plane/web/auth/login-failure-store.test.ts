import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import * as failures from './login-failure-store.ts';

const WINDOW_MS = 60_000;
const START_MS = Date.UTC(2026, 6, 5, 12);
const ADMIN = failures.loginSource('admin', '192.0.2.7');

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => asOwner(own.database, 'TRUNCATE login_failures'));
afterAll(() => own.stop());

/** The rule, this many milliseconds after the start. */
function ruleAt(ms: number): failures.LockoutRule {
  return { now: new Date(START_MS + ms), attempts: 3, windowMs: WINDOW_MS };
}

async function fail(source: failures.LoginSource, times: number, ms = 0): Promise<void> {
  for (let time = 0; time < times; time++) await failures.countFailure(own.database, source, ruleAt(ms));
}

const lockedForMs = (source: failures.LoginSource, ms = 0): Promise<number> =>
  failures.lockedForMs(own.database, source, ruleAt(ms));

async function rowCount(): Promise<number> {
  const text = 'SELECT count(*)::integer AS rows FROM login_failures';
  return (await own.database.query<{ rows: number }>(text)).rows[0]!.rows;
}

describe('loginSource(), the key of login failures,', () => {
  test('treats a /64 of IPv6 as one address', () => {
    expect(failures.loginSource('a', '2001:db8::1').address).toBe(
      failures.loginSource('a', '2001:db8::2').address,
    );
    expect(failures.loginSource('a', '2001:db8::1').address).not.toBe(
      failures.loginSource('a', '2001:db8:0:1::1').address,
    );
    expect(ADMIN).toEqual({ username: 'admin', address: '192.0.2.7' });
  });
});

describe('lockedForMs, the time until a lockout ends,', () => {
  test('starts the full window at the last allowed failure', async () => {
    await fail(ADMIN, 2);
    expect(await lockedForMs(ADMIN)).toBe(0);
    await fail(ADMIN, 1, 10_000);
    expect(await lockedForMs(ADMIN, 10_000)).toBe(WINDOW_MS);
    expect(await lockedForMs(ADMIN, 10_000 + WINDOW_MS - 1)).toBe(1);
    expect(await lockedForMs(ADMIN, 10_000 + WINDOW_MS)).toBe(0);
  });

  test('locks neither a different name nor a different address', async () => {
    await fail(ADMIN, 3);
    expect(await lockedForMs(failures.loginSource('root', '192.0.2.7'))).toBe(0);
    expect(await lockedForMs(failures.loginSource('admin', '192.0.2.8'))).toBe(0);
  });

  test('treats a failure with a future time as a failure now', async () => {
    await fail(ADMIN, 3, 3_600_000);
    expect(await lockedForMs(ADMIN)).toBe(WINDOW_MS);
    expect(await lockedForMs(ADMIN, WINDOW_MS)).toBe(0);
  });
});

describe('countFailure, which stores a failed login,', () => {
  test('starts again at one if the last failure is older than the window', async () => {
    await fail(ADMIN, 2);
    await fail(ADMIN, 1, WINDOW_MS);
    expect(await lockedForMs(ADMIN, WINDOW_MS)).toBe(0);
    await fail(ADMIN, 2, WINDOW_MS);
    expect(await lockedForMs(ADMIN, WINDOW_MS)).toBe(WINDOW_MS);
  });

  test('counts all names from an address together after the tenth', async () => {
    for (let name = 0; name < 10; name++) await fail(failures.loginSource(`junk ${name}`, '192.0.2.7'), 1);
    await fail(ADMIN, 1);
    await fail(failures.loginSource('root', '192.0.2.7'), 2);
    expect(await rowCount()).toBe(11);
    expect(await lockedForMs(failures.loginSource('anybody', '192.0.2.7'))).toBe(WINDOW_MS);
    expect(await lockedForMs(failures.loginSource('junk 3', '192.0.2.7'))).toBe(0);
    expect(await lockedForMs(ADMIN, WINDOW_MS)).toBe(0);
  });

  test('keeps 10,000 rows: deletes rows without a lock first, and of these the oldest first', async () => {
    await own.database.query(
      `INSERT INTO login_failures (username, address, failures, last_at)
       SELECT 'u', n::text, CASE WHEN n = 1 THEN 3 ELSE 1 END, $1::timestamptz + n * interval '1 ms'
       FROM generate_series(1, 10000) n`,
      [ruleAt(0).now],
    );
    await fail(ADMIN, 1, 20_000);
    expect(await rowCount()).toBe(10_000);
    const { rows } = await own.database.query<{ address: string }>(
      `SELECT address FROM login_failures WHERE address IN ('1', '2', '3', '192.0.2.7') ORDER BY address`,
    );
    expect(rows.map(({ address }) => address)).toEqual(['1', '192.0.2.7', '3']);
  });
});

describe('clearFailures', () => {
  test('clears only the failures of the given source', async () => {
    const other = failures.loginSource('admin', '192.0.2.8');
    await fail(ADMIN, 3);
    await fail(other, 3);
    await failures.clearFailures(own.database, ADMIN);
    expect([await lockedForMs(ADMIN), await lockedForMs(other)]).toEqual([0, WINDOW_MS]);
  });
});

describe('deletePassedFailures', () => {
  test('deletes failures as old as the window, and no newer failures', async () => {
    await fail(ADMIN, 1);
    await fail(failures.loginSource('root', '192.0.2.7'), 1, 1);
    await failures.deletePassedFailures(own.database, ruleAt(0).now);
    expect(await rowCount()).toBe(1);
  });
});
