/** Setup, login, lockout, sessions and passwords over HTTP, with the clock in the test's hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hashPassword } from './password.ts';
import { AuthStatus, LoginAnswer, SessionList } from '../../shared/api/auth-api.ts';
import type { Session } from '../../shared/api/auth-api.ts';
import { everyRoute, everyRow } from '../../test/support/parts/every-route.ts';
import { PASSWORD, RunningApi, sessionCookie } from '../../test/support/parts/running-api.ts';
import type { TestAnswer } from '../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../test/support/parts/suite-database.ts';

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
});
beforeEach(async () => {
  await suite.reset();
  api = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
});
afterEach(() => api.close());
afterAll(() => suite.close());

async function restart(toml: string, configFile?: string): Promise<void> {
  await api.close();
  api = await RunningApi.start(suite.database, everyRoute(), { toml, configFile });
}

function logIn(
  password: string,
  more: { username?: string; headers?: Record<string, string> } = {},
): Promise<TestAnswer> {
  const { username = 'admin', headers = {} } = more;
  return api.send('POST', '/api/auth/login', { json: { username, password }, headers });
}

async function sessionsOf(session: string): Promise<Session[]> {
  return SessionList.parse((await api.send('GET', '/api/auth/sessions', { session })).body);
}

async function isIn(session: string): Promise<boolean> {
  return (await api.send('GET', '/api/groups', { session })).status === 200;
}

describe('setup', () => {
  const guarded = everyRow.filter((route) => route.access !== 'public');

  test('before it every guarded route says setup_required, login too', async () => {
    for (const route of guarded) {
      const answer = await api.send(route.method, `/api${route.path.replace('{id}', '1')}`);
      expect([route.path, answer.status, answer.problem.error]).toEqual([route.path, 401, 'setup_required']);
    }
    const answer = await logIn('anything at all');
    expect([answer.status, answer.problem.error]).toEqual([401, 'setup_required']);
  });

  test('sets the password once, then is 403', async () => {
    const before = AuthStatus.parse((await api.send('GET', '/api/auth/status')).body);
    expect(before).toEqual({ enabled: true, password_configured: false, setup_required: true });
    expect((await api.send('POST', '/api/auth/setup', { json: { password: PASSWORD } })).status).toBe(204);
    const after = AuthStatus.parse((await api.send('GET', '/api/auth/status')).body);
    expect(after).toEqual({ enabled: true, password_configured: true, setup_required: false });
    const again = await api.send('POST', '/api/auth/setup', { json: { password: 'another password' } });
    expect([again.status, again.problem.error]).toEqual([403, 'forbidden']);
    expect((await logIn(PASSWORD)).status).toBe(200);
  });

  test('lets one of many at the same time win', async () => {
    const passwords = Array.from({ length: 6 }, (_, index) => `password number ${index}`);
    const send = (password: string) => api.send('POST', '/api/auth/setup', { json: { password } });
    const statuses = (await Promise.all(passwords.map(send))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(5);
  });

  test('is 403 where the configuration has the password', async () => {
    await restart(`auth.admin.password_hash = "${await hashPassword('from the file')}"`);
    const answer = await api.send('POST', '/api/auth/setup', { json: { password: PASSWORD } });
    expect(answer.status).toBe(403);
    expect((await logIn('from the file')).status).toBe(200);
    expect((await logIn(PASSWORD)).status).toBe(401);
  });

  test('works with authentication off and then asks for nothing', async () => {
    await restart('auth.enabled = false');
    await api.setUp();
    const status = AuthStatus.parse((await api.send('GET', '/api/auth/status')).body);
    expect(status).toEqual({ enabled: false, password_configured: true, setup_required: false });
    expect((await api.send('GET', '/api/groups')).status).toBe(200);
  });

  test.each([
    [{ password: 'short12' }, 'password'],
    [{ password: 'x'.repeat(257) }, 'password'],
    [{ password: 'lone \ud800 surrogate' }, 'password'],
    [{ password: 12345678 }, 'password'],
    [{}, 'password'],
  ])('refuses %j and names the field', async (json, path) => {
    const raw = JSON.stringify(json);
    const headers = { 'content-type': 'application/json' };
    const answer = await api.send('POST', '/api/auth/setup', { raw, headers });
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });

  test('stores an Argon2id hash and no password, in the log neither', async () => {
    await api.setUp();
    const { rows } = await suite.database.query<{ password_hash: string }>(
      'SELECT password_hash FROM admin_credential',
    );
    expect(rows[0]!.password_hash).toMatch(/^\$argon2id\$v=19\$/);
    await logIn('a wrong password');
    expect(JSON.stringify(api.logger.lines)).not.toMatch(/correct horse|a wrong password/);
  });
});

describe('login', () => {
  beforeEach(() => api.setUp());

  test('gives a cookie that scripts and other sites cannot use', async () => {
    const answer = await logIn(PASSWORD);
    expect(answer.status).toBe(200);
    const body = LoginAnswer.parse(answer.body);
    expect(body).toMatchObject({ username: 'admin', role: 'admin' });
    expect(Date.parse(body.expires_at) - api.clock.nowMs()).toBe(24 * 3_600_000);
    expect(sessionCookie(answer)!.attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
  });

  test('marks the cookie Secure where a trusted proxy speaks TLS, and only there', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    expect(sessionCookie(await logIn(PASSWORD, { headers }))!.attributes).not.toContain('Secure');
    await restart('server.trusted_proxies = ["127.0.0.1/32"]');
    expect(sessionCookie(await logIn(PASSWORD, { headers }))!.attributes).toContain('Secure');
  });

  test('lasts remember_me_days with remember_me, over the end of the browser', async () => {
    const json = { username: 'admin', password: PASSWORD, remember_me: true };
    const answer = await api.send('POST', '/api/auth/login', { json });
    expect(Date.parse(LoginAnswer.parse(answer.body).expires_at) - api.clock.nowMs()).toBe(30 * 86_400_000);
    expect(sessionCookie(answer)!.attributes.some((attribute) => attribute.startsWith('Expires='))).toBe(
      true,
    );
  });

  test('does not reveal whether the name or the password was wrong', async () => {
    const wrongPassword = await logIn('not the password');
    const wrongName = await logIn(PASSWORD, { username: 'root' });
    expect([wrongPassword.status, wrongName.status]).toEqual([401, 401]);
    expect(wrongPassword.text).toBe(wrongName.text);
    expect(wrongPassword.headers['www-authenticate']).toBeDefined();
    expect(sessionCookie(wrongPassword)).toBeUndefined();
  });

  test.each([
    [{ password: 'x' }, ['username']],
    [{ username: 'admin' }, ['password']],
    [{ username: '', password: '' }, ['username', 'password']],
    [{ username: 'a\u0000b', password: 'x' }, ['username']],
    [{ username: 'admin', password: 'x'.repeat(1025) }, ['password']],
    [{ username: ['admin'], password: {}, remember_me: 'yes' }, ['username', 'password', 'remember_me']],
  ])('refuses %j and names every bad field', async (json, paths) => {
    const answer = await api.send('POST', '/api/auth/login', { json });
    expect(answer.status).toBe(400);
    expect([...new Set(answer.problem.errors!.map((fault) => fault.path))]).toEqual(paths);
  });

  test('uses the user name of the configuration', async () => {
    await restart('auth.admin.username = "frida"');
    expect((await logIn(PASSWORD)).status).toBe(401);
    expect((await logIn(PASSWORD, { username: 'frida' })).status).toBe(200);
  });
});

describe('lockout', () => {
  beforeEach(() => api.setUp());

  async function failTimes(count: number, headers: Record<string, string> = {}): Promise<number[]> {
    const statuses = [];
    for (let n = 0; n < count; n++) statuses.push((await logIn('wrong password', { headers })).status);
    return statuses;
  }

  test('locks after the configured failures, for the window, the right password too', async () => {
    expect(await failTimes(6)).toEqual([401, 401, 401, 401, 401, 429]);
    api.clock.advanceSecs(100);
    const locked = await logIn(PASSWORD);
    expect([locked.status, locked.problem.error, locked.headers['retry-after']]).toEqual([
      429,
      'locked_out',
      '800',
    ]);
    api.clock.advanceSecs(799);
    expect((await logIn(PASSWORD)).status).toBe(429);
    api.clock.advanceSecs(1);
    expect((await logIn(PASSWORD)).status).toBe(200);
  });

  test('counts attempts at the same time one by one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => logIn('wrong password')));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  test('forgets failures after a success, and after the window', async () => {
    await failTimes(4);
    expect((await logIn(PASSWORD)).status).toBe(200);
    expect(await failTimes(4)).toEqual([401, 401, 401, 401]);
    api.clock.advanceSecs(901);
    expect(await failTimes(5)).toEqual([401, 401, 401, 401, 401]);
  });

  test('follows the configuration', async () => {
    await restart('auth.login_rate_limit_attempts = 2\nauth.login_rate_limit_window_secs = 60');
    expect(await failTimes(3)).toEqual([401, 401, 429]);
    api.clock.advanceSecs(60);
    expect((await logIn(PASSWORD)).status).toBe(200);
  });

  test('holds on another node with the same database', async () => {
    await failTimes(5);
    const other = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
    const answer = await other.send('POST', '/api/auth/login', {
      json: { username: 'admin', password: PASSWORD },
    });
    await other.close();
    expect(answer.status).toBe(429);
  });

  test('ignores X-Forwarded-For by default', async () => {
    for (let n = 0; n < 5; n++) await failTimes(1, { 'x-forwarded-for': `192.0.2.${n}` });
    expect((await logIn(PASSWORD)).status).toBe(429);
  });

  test('is a matter of one address and one name where a trusted proxy names addresses', async () => {
    await restart('server.trusted_proxies = ["127.0.0.1/32"]');
    await failTimes(5, { 'x-forwarded-for': '192.0.2.1' });
    expect((await logIn(PASSWORD, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(429);
    expect((await logIn('x', { username: 'root', headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(
      401,
    );
    expect((await logIn(PASSWORD, { headers: { 'x-forwarded-for': '192.0.2.2' } })).status).toBe(200);
  });

  test('takes a whole /64 for one address, and what is no address for the proxy', async () => {
    await restart('server.trusted_proxies = ["127.0.0.1/32"]');
    for (let n = 1; n <= 5; n++) await failTimes(1, { 'x-forwarded-for': `2001:db8:1:2::${n}` });
    const sameNet = { 'x-forwarded-for': '2001:db8:1:2:ffff::9' };
    expect((await logIn(PASSWORD, { headers: sameNet })).status).toBe(429);
    expect((await logIn(PASSWORD, { headers: { 'x-forwarded-for': '2001:db8:1:3::1' } })).status).toBe(200);
    const odd = await logIn(PASSWORD, { headers: { 'x-forwarded-for': "'; DROP TABLE sessions" } });
    expect(odd.status).toBe(200);
    const sessions = await sessionsOf(sessionCookie(odd)!.secret);
    expect(sessions.map(({ ip_address }) => ip_address).sort()).toEqual(['127.0.0.1', '2001:db8:1:3::1']);
  });
});

describe('sessions', () => {
  beforeEach(() => api.setUp());

  test('are listed newest first, with the current one marked and no secret', async () => {
    const older = await api.logIn({ headers: { 'user-agent': 'Test/1.0 \u00e9' }, remember_me: true });
    api.clock.advanceSecs(1);
    const newer = await api.logIn();
    const answer = await api.send('GET', '/api/auth/sessions', { session: older });
    expect(answer.text).not.toContain(older);
    expect(answer.text).not.toContain(newer);
    const sessions = SessionList.parse(answer.body);
    expect(sessions.map(({ current, remember_me }) => [current, remember_me])).toEqual([
      [false, false],
      [true, true],
    ]);
    expect(sessions[1]).toMatchObject({ username: 'admin', role: 'admin', ip_address: '127.0.0.1' });
    expect(sessions[1]!.user_agent).toMatch(/^Test\/1\.0 /);
  });

  test('are stored as hashes', async () => {
    const session = await api.logIn();
    const { rows } = await suite.database.query<{ row: string }>(
      'SELECT sessions::text AS row FROM sessions',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.row).not.toContain(session);
    expect(rows[0]!.row).not.toContain(Buffer.from(session).toString('hex'));
  });

  test('end at their time and are removed from the table then', async () => {
    const session = await api.logIn();
    api.clock.advanceSecs(24 * 3600 - 1);
    expect(await isIn(session)).toBe(true);
    api.clock.advanceSecs(1);
    expect(await isIn(session)).toBe(false);
    await api.parts.auth.removeExpired();
    const { rows } = await suite.database.query('SELECT id FROM sessions');
    expect(rows).toEqual([]);
  });

  test('neither end nor last because the clock is set', async () => {
    const session = await api.logIn();
    const year = 365 * 86_400;
    for (const step of [year, -2 * year, year]) {
      api.clock.stepSecs(step);
      expect([step, await isIn(session)]).toEqual([step, true]);
      // Nothing is removed for good by a clock that was just set.
      await api.parts.auth.removeExpired();
    }
    api.clock.stepSecs(-year);
    const opened = await api.logIn();
    api.clock.stepSecs(year);
    expect(await isIn(opened)).toBe(true);
    api.clock.advanceSecs(24 * 3600 - 1);
    expect([await isIn(session), await isIn(opened)]).toEqual([true, true]);
    api.clock.stepSecs(-year);
    api.clock.advanceSecs(1);
    expect([await isIn(session), await isIn(opened)]).toEqual([false, false]);
    api.clock.stepSecs(year);
  });

  test('that a clock in the future opened last no longer than any other, and those of before are kept', async () => {
    const year = 365 * 86_400;
    const before = await api.logIn();
    api.clock.stepSecs(year);
    const session = await api.logIn();
    await api.parts.auth.removeExpired();
    api.clock.stepSecs(-year);
    // Another node, or this one after a start, has never seen them.
    const restarted = await RunningApi.start(suite.database, everyRoute(), { toml: '', clock: api.clock });
    const isInThere = async (secret: string): Promise<boolean> =>
      (await restarted.send('GET', '/api/groups', { session: secret })).status === 200;
    expect([await isInThere(before), await isInThere(session)]).toEqual([true, true]);
    api.clock.advanceSecs(24 * 3600);
    expect([await isInThere(before), await isInThere(session)]).toEqual([false, false]);
    await restarted.close();
  });

  test('note when they were last seen', async () => {
    const session = await api.logIn();
    const [before] = await sessionsOf(session);
    api.clock.advanceSecs(120);
    await isIn(session);
    const [after] = await sessionsOf(session);
    expect(Date.parse(after!.last_seen_at) - Date.parse(before!.last_seen_at)).toBe(120_000);
  });

  test('can be revoked one by one, the own one too', async () => {
    const own = await api.logIn();
    const other = await api.logIn();
    const idOfOther = (await sessionsOf(own)).find(({ current }) => !current)!.id;
    expect((await api.send('DELETE', `/api/auth/sessions/${idOfOther}`, { session: own })).status).toBe(204);
    expect([await isIn(other), await isIn(own)]).toEqual([false, true]);
    const again = await api.send('DELETE', `/api/auth/sessions/${idOfOther}`, { session: own });
    expect([again.status, again.problem.error]).toEqual([404, 'not_found']);
    const [current] = await sessionsOf(own);
    const last = await api.send('DELETE', `/api/auth/sessions/${current!.id}`, { session: own });
    expect([last.status, sessionCookie(last)!.secret]).toEqual([204, '']);
    expect(await isIn(own)).toBe(false);
  });

  test('end at logout, on the server and in the browser', async () => {
    const session = await api.logIn();
    const answer = await api.send('POST', '/api/auth/logout', { session });
    expect([answer.status, sessionCookie(answer)!.secret]).toEqual([204, '']);
    expect(await isIn(session)).toBe(false);
    expect((await api.send('POST', '/api/auth/logout', { session })).status).toBe(204);
  });

  test('of one node count on another, and so does their end', async () => {
    const session = await api.logIn();
    const other = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
    expect((await other.send('GET', '/api/groups', { session })).status).toBe(200);
    await api.send('POST', '/api/auth/logout', { session });
    expect((await other.send('GET', '/api/groups', { session })).status).toBe(401);
    await other.close();
  });
});

describe('change-password', () => {
  let file: string;
  beforeEach(async () => {
    await api.setUp();
    file = join(await mkdtemp(join(tmpdir(), 'weir-config-')), 'weir.toml');
  });
  afterEach(() => rm(dirname(file), { recursive: true }));

  function change(session: string, current: string, next: string): Promise<TestAnswer> {
    const json = { current_password: current, new_password: next };
    return api.send('POST', '/api/auth/change-password', { session, json });
  }

  test('replaces the password and ends the other sessions', async () => {
    const own = await api.logIn();
    const other = await api.logIn();
    expect((await change(own, PASSWORD, 'a better password')).status).toBe(204);
    expect([await isIn(own), await isIn(other)]).toEqual([true, false]);
    expect((await logIn(PASSWORD)).status).toBe(401);
    expect((await logIn('a better password')).status).toBe(200);
  });

  test('with a wrong current password is 401, and counts towards the lockout', async () => {
    const session = await api.logIn();
    for (let n = 0; n < 5; n++)
      expect((await change(session, 'wrong', 'a better password')).status).toBe(401);
    expect((await change(session, PASSWORD, 'a better password')).status).toBe(429);
    expect(await isIn(session)).toBe(true);
    api.clock.advanceSecs(900);
    expect((await logIn(PASSWORD)).status).toBe(200);
  });

  test('rewrites the configuration file where that has the password, and keeps the rest of it', async () => {
    const write = (hash: string): string =>
      `# mine\n[auth.admin]\npassword_hash = "${hash}" # in May\n\n[logging]\nlevel = "warn" # quiet\n`;
    const hash = await hashPassword(PASSWORD);
    await writeFile(file, write(hash), { mode: 0o600 });
    await restart(`auth.admin.password_hash = "${hash}"`, file);
    const [own, other] = [await api.logIn(), await api.logIn()];
    expect((await change(own, PASSWORD, 'a better password')).status).toBe(204);
    expect([await isIn(own), await isIn(other)]).toEqual([true, false]);
    expect((await logIn(PASSWORD)).status).toBe(401);
    expect((await logIn('a better password')).status).toBe(200);
    expect((await change(own, 'a better password', 'the best password')).status).toBe(204);
    const text = await readFile(file, 'utf8');
    const [, written = ''] = /"(\$argon2[^"]+)"/.exec(text)!;
    expect(text).toBe(write(written));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await restart(`auth.admin.password_hash = "${written}"`, file);
    expect((await logIn('the best password')).status).toBe(200);
  });

  test('is 409 where the environment has the password, or the file was changed meanwhile', async () => {
    const hash = await hashPassword(PASSWORD);
    for (const text of [null, '[auth.admin]\n', 'not TOML', `[auth.admin]\npassword_hash = "${hash}x"\n`]) {
      if (text === null) await rm(file, { force: true });
      else await writeFile(file, text);
      await restart(`auth.admin.password_hash = "${hash}"`, file);
      const [own, other] = [await api.logIn(), await api.logIn()];
      const answer = await change(own, PASSWORD, 'a better password');
      expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
      expect([await isIn(own), await isIn(other), (await logIn(PASSWORD)).status]).toEqual([true, true, 200]);
    }
  });

  test('names every bad field', async () => {
    const session = await api.logIn();
    const answer = await api.send('POST', '/api/auth/change-password', {
      session,
      json: { new_password: 'short' },
    });
    expect(answer.status).toBe(400);
    expect(answer.problem.errors!.map((fault) => fault.path)).toEqual(['current_password', 'new_password']);
  });
});
