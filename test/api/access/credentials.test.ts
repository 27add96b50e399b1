/**
 * Who gets through to which route: every row of the table with every kind of credentials. The rules are those of the
 * roles: a viewer reads, an admin does everything, and others get to what is public only.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Access, Route } from '../../../control-plane/api/route.ts';
import { everyRoute, everyRow } from '../../support/parts/every-route.ts';
import { logInAs, makeToken, makeUser } from '../../support/parts/people.ts';
import { RunningApi, type TestRequest } from '../../support/parts/running-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../support/parts/suite-database.ts';

/** What a route answers: `through` is whatever its handler says of a request without sense. */
type Verdict = 'through' | 401 | 403;

const STRANGER: Record<Access, Verdict> = { public: 'through', viewer: 401, admin: 401 };
const VIEWER: Record<Access, Verdict> = { public: 'through', viewer: 'through', admin: 403 };
const ADMIN: Record<Access, Verdict> = { public: 'through', viewer: 'through', admin: 'through' };

let suite: SuiteDatabase;
let api: RunningApi;
/** What a request carries, by the name of the credentials. */
let carried: Record<string, TestRequest>;

const cookie = (session: string): TestRequest => ({ session });
const key = (text: string): TestRequest => ({ headers: { 'x-api-key': text } });

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
  await api.setUp();
  const expired = await api.logIn();
  api.clock.advanceSecs(24 * 3600);
  const admin = await api.logIn();
  const made: Record<string, TestRequest> = {};
  for (const role of ['viewer', 'admin'] as const) {
    const username = `a-${role}`;
    await makeUser(api, admin, { username, role });
    made[`session of a ${role}`] = cookie(await logInAs(api, username));
    made[`token of a ${role}`] = key((await makeToken(api, admin, { name: role, role })).key);
  }
  const { id } = await makeUser(api, admin, { username: 'disabled', role: 'admin' });
  const disabled = await logInAs(api, 'disabled');
  await api.send('PATCH', `/api/users/${id}`, { session: admin, json: { enabled: false } });
  const revoked = await makeToken(api, admin, { name: 'revoked' });
  await api.send('DELETE', `/api/api-tokens/${revoked.id}`, { session: admin });
  carried = {
    ...made,
    none: {},
    'a bad cookie': cookie('A'.repeat(43)),
    'a bad key': key(`weir_${'A'.repeat(43)}`),
    'a revoked token': key(revoked.key),
    'the session of a disabled user': cookie(disabled),
    'an expired session': cookie(expired),
    'the session of the administrator': cookie(admin),
  };
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const KINDS: readonly [string, Record<Access, Verdict>][] = [
  ['none', STRANGER],
  ['a bad cookie', STRANGER],
  ['a bad key', STRANGER],
  ['a revoked token', STRANGER],
  ['the session of a disabled user', STRANGER],
  ['an expired session', STRANGER],
  ['session of a viewer', VIEWER],
  ['token of a viewer', VIEWER],
  ['session of a admin', ADMIN],
  ['token of a admin', ADMIN],
  ['the session of the administrator', ADMIN],
];

/** What would end the credentials of the tests that follow, or belongs to a person alone. */
const LEFT_OUT = new Set(['POST /auth/logout']);
const rows = everyRow.filter(({ method, path }) => !LEFT_OUT.has(`${method} ${path}`));

async function verdictOf(row: Route, request: TestRequest): Promise<Verdict> {
  const path = `/api${row.path.replace('{id}', '99').replaceAll(/\{\w+\}/g, 'x')}`;
  const { status, body } = await api.send(row.method, path, request);
  if (status === 401 && row.access === 'public') return 'through';
  if (status !== 401 && status !== 403) return 'through';
  // A handler may refuse as well: that of another's code, not of the guard.
  const detail = (body as { detail: string }).detail;
  return status === 403 && !detail.startsWith('the role') ? 'through' : status;
}

test.each(KINDS)('%s: every route lets through whom it should', async (kind, rights) => {
  const wrong: unknown[] = [];
  for (const row of rows) {
    const verdict = await verdictOf(row, carried[kind]!);
    if (verdict !== rights[row.access]) wrong.push([row.method, row.path, verdict, rights[row.access]]);
  }
  expect(wrong).toEqual([]);
});

test('every change needs an admin, but what people do with their own account', () => {
  const open = everyRow.filter(({ method, access }) => method !== 'GET' && access !== 'admin');
  expect(open.map(({ method, path, access }) => `${method} ${path}: ${access}`).sort()).toEqual([
    'POST /auth/change-password: viewer',
    'POST /auth/login: public',
    'POST /auth/logout: public',
    'POST /auth/second-factor/confirm: viewer',
    'POST /auth/second-factor/disable: viewer',
    'POST /auth/second-factor/recovery-codes: viewer',
    'POST /auth/second-factor: viewer',
    'POST /auth/setup: public',
  ]);
});

test('the public routes are those of the specification, and no others', () => {
  const open = everyRow.filter(({ access }) => access === 'public');
  expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'GET /auth/status',
    'GET /health',
    'POST /auth/login',
    'POST /auth/logout',
    'POST /auth/setup',
  ]);
});
