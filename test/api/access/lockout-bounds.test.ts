/** Anonymous clients that guess passwords can neither lock the administrator out nor fill the table. */
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { hashPassword } from '../../../control-plane/web/auth/accounts/password.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { PASSWORD, type RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { serveSuite } from '../../support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

const MAX_ROWS = 10_000;
const ROWS_OF_AN_ADDRESS = 11;
/** More requests than may wait for a login, fewer than the connections that an address may have. */
const AT_ONCE = 45;

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(everyRoute(), (served) => ({ suite, api } = served), { toml: '' });
/** A hash at full cost, so that logins have to wait for each other. Computed once. */
let hash: string;
beforeAll(async () => {
  hash = await hashPassword(PASSWORD);
});
beforeEach(async () => {
  await api.setUp();
  await suite.database.query('UPDATE admin_credential SET password_hash = $1', [hash]);
});

function logIn(password: string, username = 'admin'): Promise<TestAnswer> {
  return api.send('POST', '/api/auth/login', { json: { username, password } });
}

async function rowCount(): Promise<number> {
  const text = 'SELECT count(*)::integer AS rows FROM login_failures';
  return (await suite.database.query<{ rows: number }>(text)).rows[0]!.rows;
}

test('many concurrent logins with the correct password never lock the account', async () => {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => logIn(PASSWORD)));
  const errors = answers.filter(({ status }) => status !== 200).map(({ problem }) => problem.error);
  expect(new Set(errors)).toEqual(new Set(['busy']));
  expect(await rowCount()).toBe(0);
  expect((await logIn(PASSWORD)).status).toBe(200);
});

test('concurrent wrong passwords are checked only as often as the limit allows', async () => {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => logIn('wrong password')));
  const errors = answers.map(({ problem }) => problem.error);
  expect(errors.filter((error) => error === 'unauthorized')).toHaveLength(5);
  const { rows } = await suite.database.query('SELECT failures FROM login_failures');
  expect(rows).toEqual([{ failures: 5 }]);
});

test('unknown user names add a limited number of rows, then lock their address', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 40; n++) statuses.push((await logIn('wrong password', `junk ${n}`)).status);
  expect(statuses).toEqual([...Array<number>(15).fill(401), ...Array<number>(25).fill(429)]);
  expect(await rowCount()).toBe(ROWS_OF_AN_ADDRESS);
  // The response is the same whether the user exists or not.
  expect([(await logIn('wrong password')).status, (await logIn('x', 'root')).status]).toEqual([429, 429]);
  api.clock.advanceSecs(900);
  expect((await logIn(PASSWORD)).status).toBe(200);
});

test('a user name that failed before a flood of random names keeps its own count of failures', async () => {
  expect((await logIn('wrong password')).status).toBe(401);
  for (let n = 0; n < 20; n++) await logIn('wrong password', `junk ${n}`);
  expect((await logIn(PASSWORD)).status).toBe(200);
});

test('login failures from many addresses add a limited number of rows; locks are evicted last', async () => {
  await suite.database.query(
    `INSERT INTO login_failures (username, address, failures, last_at)
     SELECT 'admin', 'net-' || n, CASE WHEN n <= 3 THEN 5 ELSE 1 END, $1::timestamptz + n * interval '1 ms'
     FROM generate_series(1, $2::integer) n`,
    [new Date(api.clock.nowMs() - 60_000), MAX_ROWS + 50],
  );
  expect((await logIn('wrong password')).status).toBe(401);
  expect(await rowCount()).toBe(MAX_ROWS);
  const { rows } = await suite.database.query<{ address: string }>(
    "SELECT address FROM login_failures WHERE failures >= 5 OR address = '127.0.0.1' ORDER BY address",
  );
  expect(rows.map(({ address }) => address)).toEqual(['127.0.0.1', 'net-1', 'net-2', 'net-3']);
});

test('login failures with a future time, from a wrong clock, lock for only one window', async () => {
  for (let n = 0; n < 5; n++) await logIn('wrong password');
  await suite.database.query("UPDATE login_failures SET last_at = last_at + interval '10 days'");
  const locked = await logIn(PASSWORD);
  expect([locked.status, locked.headers['retry-after']]).toEqual([429, '900']);
  api.clock.advanceSecs(900);
  expect((await logIn(PASSWORD)).status).toBe(200);
});
