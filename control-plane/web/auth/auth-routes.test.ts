/** Setup, login and change of the password over HTTP. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHEAP_HASHING } from '../../../test/support/parts/cheap-hashing.ts';
import { AuthStatus, LoginAnswer } from '../../../shared/api/auth-api.ts';
import { everyRow } from '../../../test/support/parts/every-route.ts';
import { PASSWORD, sessionCookie } from '../../../test/support/parts/running-api.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';
import { AuthSuite } from '../../../test/support/parts/auth-suite.ts';

const node = new AuthSuite();

describe('the first setup of the password', () => {
  // A node without a password.
  beforeEach(() => node.restart(''));

  const guarded = everyRow.filter((route) => route.access !== 'public');

  test('is required before every protected route, even login: 401 setup_required', async () => {
    for (const route of guarded) {
      const answer = await node.api.send(route.method, `/api${route.path.replace('{id}', '1')}`);
      expect([route.path, answer.status, answer.problem.error]).toEqual([route.path, 401, 'setup_required']);
    }
    const answer = await node.logIn('anything at all');
    expect([answer.status, answer.problem.error]).toEqual([401, 'setup_required']);
  });

  test('accepts exactly one of many concurrent requests', async () => {
    const passwords = Array.from({ length: 6 }, (_, index) => `password number ${index}`);
    const send = (password: string) => node.api.send('POST', '/api/auth/setup', { json: { password } });
    const statuses = (await Promise.all(passwords.map(send))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(5);
  });

  test('is possible while authentication is disabled, and requests still need no login afterwards', async () => {
    await node.restart('auth.enabled = false');
    await node.api.setUp();
    const status = AuthStatus.parse((await node.api.send('GET', '/api/auth/status')).body);
    expect(status).toEqual({
      enabled: false,
      password_configured: true,
      setup_required: false,
      setup_code_file: null,
      session: null,
    });
    expect((await node.api.send('GET', '/api/groups')).status).toBe(200);
  });

  test.each([
    [{ password: 'short12' }, 'password'],
    [{ password: 'x'.repeat(257) }, 'password'],
    [{ password: 'lone \ud800 surrogate' }, 'password'],
    [{ password: 12345678 }, 'password'],
    [{}, 'password'],
  ])('rejects %j and reports the field', async (json, path) => {
    const raw = JSON.stringify(json);
    const headers = { 'content-type': 'application/json' };
    const answer = await node.api.send('POST', '/api/auth/setup', { raw, headers });
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });

  test('stores an Argon2id hash and no password, and logs neither', async () => {
    await node.api.send('POST', '/api/auth/setup', { json: { password: PASSWORD } });
    const { rows } = await node.suite.database.query<{ password_hash: string }>(
      'SELECT password_hash FROM admin_credential',
    );
    expect(rows[0]!.password_hash).toMatch(/^\$argon2id\$v=19\$/);
    await node.logIn('a wrong password');
    expect(JSON.stringify(node.api.logger.lines)).not.toMatch(/correct horse|a wrong password/);
  });
});

describe('login', () => {
  beforeEach(() => node.api.setUp());

  test('sets a cookie that scripts and other sites cannot use', async () => {
    const answer = await node.logIn(PASSWORD);
    expect(answer.status).toBe(200);
    const body = LoginAnswer.parse(answer.body);
    expect(body).toMatchObject({ username: 'admin', role: 'admin' });
    expect(Date.parse(body.expires_at) - node.api.clock.nowMs()).toBe(24 * 3_600_000);
    expect(sessionCookie(answer)!.attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
  });

  test('marks the cookie as Secure only if a trusted proxy reports TLS', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    expect(sessionCookie(await node.logIn(PASSWORD, { headers }))!.attributes).not.toContain('Secure');
    await node.restart('server.trusted_proxies = ["127.0.0.1/32"]');
    expect(sessionCookie(await node.logIn(PASSWORD, { headers }))!.attributes).toContain('Secure');
  });

  test('returns the same error for a wrong name and a wrong password', async () => {
    const wrongPassword = await node.logIn('not the password');
    const wrongName = await node.logIn(PASSWORD, { username: 'root' });
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
  ])('rejects %j and reports every invalid field', async (json, paths) => {
    const answer = await node.api.send('POST', '/api/auth/login', { json });
    expect(answer.status).toBe(400);
    expect([...new Set(answer.problem.errors!.map((fault) => fault.path))]).toEqual(paths);
  });
});

describe('change-password', () => {
  let file: string;
  beforeEach(async () => {
    await node.api.setUp();
    file = join(await mkdtemp(join(tmpdir(), 'weir-config-')), 'weir.toml');
  });
  afterEach(() => rm(dirname(file), { recursive: true }));

  function change(session: string, current: string, next: string): Promise<TestAnswer> {
    const json = { current_password: current, new_password: next };
    return node.api.send('POST', '/api/auth/change-password', { session, json });
  }

  test('replaces the password and ends all other sessions', async () => {
    const own = await node.api.logIn();
    const other = await node.api.logIn();
    expect((await change(own, PASSWORD, 'a better password')).status).toBe(204);
    expect([await node.isIn(own), await node.isIn(other)]).toEqual([true, false]);
    expect((await node.logIn(PASSWORD)).status).toBe(401);
    expect((await node.logIn('a better password')).status).toBe(200);
  });

  test('with a wrong current password is 401, and counts towards the lockout', async () => {
    const session = await node.api.logIn();
    for (let n = 0; n < 5; n++)
      expect((await change(session, 'wrong', 'a better password')).status).toBe(401);
    expect((await change(session, PASSWORD, 'a better password')).status).toBe(429);
    expect(await node.isIn(session)).toBe(true);
    node.api.clock.advanceSecs(900);
    expect((await node.logIn(PASSWORD)).status).toBe(200);
  });

  test('rewrites the configuration file if it contains the password, and keeps the rest of the file', async () => {
    const write = (hash: string): string =>
      `# mine\n[auth.admin]\npassword_hash = "${hash}" # in May\n\n[logging]\nlevel = "warn" # quiet\n`;
    const hash = await CHEAP_HASHING.hash(PASSWORD);
    await writeFile(file, write(hash), { mode: 0o600 });
    await node.restart(`auth.admin.password_hash = "${hash}"`, file);
    const [own, other] = [await node.api.logIn(), await node.api.logIn()];
    expect((await change(own, PASSWORD, 'a better password')).status).toBe(204);
    expect([await node.isIn(own), await node.isIn(other)]).toEqual([true, false]);
    expect((await node.logIn(PASSWORD)).status).toBe(401);
    expect((await node.logIn('a better password')).status).toBe(200);
    expect((await change(own, 'a better password', 'the best password')).status).toBe(204);
    const text = await readFile(file, 'utf8');
    const [, written = ''] = /"(\$argon2[^"]+)"/.exec(text)!;
    expect(text).toBe(write(written));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await node.restart(`auth.admin.password_hash = "${written}"`, file);
    expect((await node.logIn('the best password')).status).toBe(200);
  });

  test('is 409 if the environment sets the password or the file has changed', async () => {
    const hash = await CHEAP_HASHING.hash(PASSWORD);
    for (const text of [null, '[auth.admin]\n', 'not TOML', `[auth.admin]\npassword_hash = "${hash}x"\n`]) {
      if (text === null) await rm(file, { force: true });
      else await writeFile(file, text);
      await node.restart(`auth.admin.password_hash = "${hash}"`, file);
      const [own, other] = [await node.api.logIn(), await node.api.logIn()];
      const answer = await change(own, PASSWORD, 'a better password');
      expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
      expect([await node.isIn(own), await node.isIn(other), (await node.logIn(PASSWORD)).status]).toEqual([
        true,
        true,
        200,
      ]);
    }
  });

  test('reports every invalid field', async () => {
    const session = await node.api.logIn();
    const answer = await node.api.send('POST', '/api/auth/change-password', {
      session,
      json: { new_password: 'q7#xz' },
    });
    expect(answer.status).toBe(400);
    expect(answer.problem.errors!.map((fault) => fault.path)).toEqual(['current_password', 'new_password']);
  });
});
