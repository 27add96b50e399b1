/** Users over HTTP: creation, changes, logins, and the end of sessions when a right is removed. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { User, UserList } from '../../../../shared/api/users-api.ts';
import { AuthSuite } from '../../../../test/support/parts/auth-suite.ts';
import { everyRoute } from '../../../../test/support/parts/every-route.ts';
import { logInAs, makeUser, USER_PASSWORD } from '../../../../test/support/parts/people.ts';
import { PASSWORD, RunningApi, type TestAnswer } from '../../../../test/support/parts/running-api.ts';

const node = new AuthSuite();
let session: string;

beforeEach(async () => {
  await node.api.setUp();
  session = await node.api.logIn();
});

const make = (user: Parameters<typeof makeUser>[2]): Promise<User> => makeUser(node.api, session, user);
const patch = (id: number, json: unknown, cookie = session): Promise<TestAnswer> =>
  node.api.send('PATCH', `/api/users/${id}`, { session: cookie, json });
const remove = (id: number): Promise<TestAnswer> => node.api.send('DELETE', `/api/users/${id}`, { session });
const list = async (): Promise<User[]> =>
  UserList.parse((await node.api.send('GET', '/api/users', { session })).body);
const create = (json: object): Promise<TestAnswer> =>
  node.api.send('POST', '/api/users', { session, json: { password: USER_PASSWORD, ...json } });

describe('a user', () => {
  test('is in the audit log with each change, but without the password', async () => {
    const { id } = User.parse((await create({ username: 'vera' })).body);
    await patch(id, { role: 'admin', password: 'a new password' });
    const opened = await logInAs(node.api, 'vera', 'a new password');
    const own = (await node.sessionsOf(opened)).find(({ current }) => current)!;
    await node.api.send('DELETE', `/api/auth/sessions/${own.id}`, { session });
    await remove(id);
    const { rows } = await node.suite.database.query<{ row: string }>(
      `SELECT actor || ' ' || action || ' ' || subject AS row FROM audit_log ORDER BY id`,
    );
    expect(rows.map(({ row }) => row)).toEqual([
      'admin created user vera',
      'admin changed user vera',
      'admin revoked session of vera',
      'admin deleted user vera',
    ]);
    const { rows: details } = await node.suite.database.query<{ after: unknown; text: string }>(
      `SELECT after, audit_log::text AS text FROM audit_log WHERE action = 'changed'`,
    );
    expect(details[0]!.after).toMatchObject({ id, role: 'admin', password_changed: true });
    expect(details[0]!.text).not.toMatch(/a new password|argon2/);
  });

  test('is listed after the administrator, without a password', async () => {
    const answer = await create({ username: 'Vera.K', display_name: 'Véra 王' });
    const user = User.parse(answer.body);
    expect([answer.status, answer.text]).toEqual([201, expect.not.stringMatching(/argon2|password/)]);
    expect(user).toMatchObject({
      username: 'Vera.K',
      display_name: 'Véra 王',
      role: 'viewer',
      source: 'database',
      enabled: true,
    });
    const [admin, ...others] = await list();
    expect(admin).toMatchObject({ id: 1, username: 'admin', role: 'admin', source: 'config', enabled: true });
    expect(others).toEqual([user]);
    const { rows } = await node.suite.database.query('SELECT password_hash AS hash FROM users WHERE id > 1');
    expect(rows).toEqual([{ hash: expect.stringMatching(/^\$argon2id\$/) }]);
  });

  test('logs in with their own password and the name in any letter case, but not with the password of another user', async () => {
    await make({ username: 'Vera' });
    expect(await node.isIn(await logInAs(node.api, 'vERA'))).toBe(true);
    for (const [username, password] of [
      ['Vera', PASSWORD],
      ['admin', USER_PASSWORD],
      ['ver', USER_PASSWORD],
    ])
      expect((await node.logIn(password!, { username: username! })).status).toBe(401);
  });

  test('has a unique name in any letter case, different from the name of the administrator', async () => {
    await make({ username: 'Vera' });
    for (const username of ['vera', 'VERA', 'Admin', 'admin']) {
      const answer = await create({ username });
      expect([username, answer.status, answer.problem.error]).toEqual([username, 409, 'conflict']);
    }
    const twice = await Promise.all(['ann', 'ANN', 'Ann'].map((username) => create({ username })));
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test.each([
    ['', 'а', 'vеra', 'véra', 'ｖera', 've ra', ' vera', '-vera', 'vera.', 'v\u0000', 'v\u200bera', 'a/b'],
    ['system', 'Anonymous', 'x'.repeat(65), 'token x', null, 7, ['a']],
  ])('cannot have the name %j…', async (...names) => {
    for (const username of names) {
      const answer = await create({ username });
      expect([username, answer.status]).toEqual([username, 400]);
      expect(answer.problem.errors![0]!.path).toBe('username');
    }
  });

  test.each([
    ['ａｄａ', 'ada'],
    ['Groß', 'gross'],
    ['\u017fepp', 'Sepp'],
    ['\u212aarl', 'karl'],
    ['o\u00adtto', 'OTTO'],
  ])('of a node whose administrator is named %s cannot be named %s', async (admin, username) => {
    await node.restart(`auth.admin.username = "${admin}"`);
    expect([(await create({ username })).status, (await create({ username: 'frida' })).status]).toEqual([
      409, 201,
    ]);
  });

  test('is hidden by a configured administrator with the same name, and returns when that name changes', async () => {
    await make({ username: 'frida', role: 'viewer' });
    await node.restart('auth.admin.username = "FRIDA"');
    expect((await node.logIn(USER_PASSWORD, { username: 'frida' })).status).toBe(401);
    expect((await node.logIn(PASSWORD, { username: 'frida' })).body).toMatchObject({
      username: 'FRIDA',
      role: 'admin',
    });
    await node.restart('');
    expect((await node.logIn(USER_PASSWORD, { username: 'frida' })).body).toMatchObject({ role: 'viewer' });
  });

  test('can change their own password, even as a viewer, but cannot list other users', async () => {
    await make({ username: 'vera' });
    const [own, other] = [await logInAs(node.api, 'vera'), await logInAs(node.api, 'vera')];
    const json = { current_password: USER_PASSWORD, new_password: 'a better one' };
    const change = (): Promise<TestAnswer> =>
      node.api.send('POST', '/api/auth/change-password', { session: own, json });
    expect((await change()).status).toBe(204);
    expect([await node.isIn(own), await node.isIn(other), await node.isIn(session)]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await node.logIn('a better one', { username: 'vera' })).status).toBe(200);
    expect((await change()).status).toBe(401);
    expect((await node.logIn(PASSWORD)).status).toBe(200);
  });

  test('is locked out by name and address like the administrator, even if the user does not exist', async () => {
    await make({ username: 'vera' });
    for (const username of ['vera', 'unknown']) {
      const spellings = [username, username.toUpperCase(), username, username, username];
      const texts = [];
      for (const spelling of spellings) {
        const answer = await node.logIn('wrong password', { username: spelling });
        texts.push([answer.status, answer.text]);
      }
      expect(new Set(texts.map((text) => JSON.stringify(text))).size).toBe(1);
      expect((await node.logIn(USER_PASSWORD, { username })).status).toBe(429);
    }
    expect((await node.logIn(PASSWORD)).status).toBe(200);
  });
});

describe('the removal of access rights', () => {
  test.each<[string, (id: number) => Promise<TestAnswer>, number]>([
    ['disabled', (id) => patch(id, { enabled: false }), 401],
    ['demoted', (id) => patch(id, { role: 'viewer' }), 200],
    ['deleted', (id) => remove(id), 401],
    ['given another password', (id) => patch(id, { password: 'of an admin' }), 401],
  ])(
    'ends the sessions of a user who is %s, on this node and on other nodes',
    async (_how, change, after) => {
      const { id } = await make({ username: 'otto', role: 'admin' });
      const other = await RunningApi.start(node.suite.database, everyRoute(), { toml: '' });
      const opened = [await logInAs(node.api, 'otto'), await logInAs(other, 'otto')];
      expect([200, 204]).toContain((await change(id)).status);
      for (const own of opened)
        for (const api of [node.api, other])
          expect((await api.send('GET', '/api/groups', { session: own })).status).toBe(401);
      const again = await node.logIn(USER_PASSWORD, { username: 'otto' });
      expect(again.status).toBe(after);
      await other.close();
    },
  );

  test('also applies to sessions opened before, which have the current role of their user', async () => {
    const { id } = await make({ username: 'otto', role: 'admin' });
    const own = await logInAs(node.api, 'otto');
    await node.suite.database.query("UPDATE users SET role = 'viewer' WHERE id = $1", [id]);
    const refused = await node.api.send('POST', '/api/groups', { session: own, json: { name: 'x' } });
    expect(refused.status).toBe(403);
    await node.suite.database.query('UPDATE users SET enabled = false WHERE id = $1', [id]);
    expect(await node.isIn(own)).toBe(false);
    expect((await node.sessionsOf(session)).map(({ username }) => username)).toEqual(['admin']);
  });

  test('is not undone by a concurrent login', async () => {
    const { id } = await make({ username: 'otto', role: 'admin' });
    const changes = ['a new password', 'a newer password', 'the newest password'];
    for (const [n, password] of changes.entries()) {
      const current = n === 0 ? USER_PASSWORD : changes[n - 1]!;
      const logins = Array.from({ length: 4 }, () => node.logIn(current, { username: 'otto' }));
      const [changed] = await Promise.all([patch(id, { password }), ...logins]);
      expect(changed.status).toBe(200);
    }
    // The last change ended all sessions that were opened before it, and none was opened after it.
    const rows = await node.sessionsOf(session);
    expect(rows.map(({ username }) => username)).toEqual(['admin']);
  });

  test('keeps the sessions of users whose rights did not change', async () => {
    const { id, ...before } = await make({ username: 'otto' });
    const own = await logInAs(node.api, 'otto');
    const answer = await patch(id, { display_name: 'Otto', role: 'viewer', enabled: true });
    const after = User.parse(answer.body);
    expect(after).toEqual({ ...before, id, display_name: 'Otto', updated_at: after.updated_at });
    expect(await node.isIn(own)).toBe(true);
  });
});

describe('the configured administrator', () => {
  test.each<[object]>([[{ role: 'viewer' }], [{ enabled: false }], [{ password: 'another password' }]])(
    'is not changed by %j, for any caller',
    async (json) => {
      await make({ username: 'otto', role: 'admin' });
      for (const cookie of [session, await logInAs(node.api, 'otto')]) {
        const answer = await patch(1, json, cookie);
        expect([answer.status, answer.problem.error]).toEqual([403, 'forbidden']);
        expect(answer.problem.detail).toContain('the administrator of the configuration');
      }
      expect((await node.logIn(PASSWORD)).status).toBe(200);
    },
  );

  test('cannot be deleted, and may have a display name', async () => {
    const answer = await remove(1);
    expect([answer.status, answer.problem.error]).toEqual([403, 'forbidden']);
    const named = await patch(1, { display_name: 'Root', role: 'admin', enabled: true });
    expect(named.body).toMatchObject({ id: 1, username: 'admin', display_name: 'Root', source: 'config' });
  });

  test('remains when all other users have deleted themselves', async () => {
    const { id } = await make({ username: 'otto', role: 'admin' });
    const own = await logInAs(node.api, 'otto');
    expect((await node.api.send('DELETE', `/api/users/${id}`, { session: own })).status).toBe(204);
    expect(await node.isIn(own)).toBe(false);
    expect((await list()).map(({ id }) => id)).toEqual([1]);
    expect((await remove(id)).status).toBe(404);
    expect((await patch(id, {})).status).toBe(404);
  });
});
