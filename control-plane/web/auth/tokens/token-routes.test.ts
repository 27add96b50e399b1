/** API tokens over HTTP: creation, use, import and revocation. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiToken, ApiTokenList } from '../../../../shared/api/tokens-api.ts';
import { AuthSuite } from '../../../../test/support/parts/auth-suite.ts';
import { everyRoute } from '../../../../test/support/parts/every-route.ts';
import { logInAs, makeToken, makeUser, withKey } from '../../../../test/support/parts/people.ts';
import { PASSWORD, RunningApi, type TestAnswer } from '../../../../test/support/parts/running-api.ts';

const node = new AuthSuite();
const IMPORTED = 'V2hhdCBQaS1ob2xlIG1hZGU=';
let session: string;

beforeEach(async () => {
  await node.api.setUp();
  session = await node.api.logIn();
});

const statusWith = async (key: string, api = node.api): Promise<number> =>
  (await withKey(api, 'GET', '/groups', key)).status;
const put = (id: number, json: unknown): Promise<TestAnswer> =>
  node.api.send('PUT', `/api/api-tokens/${id}`, { session, json });
const remove = (id: number): Promise<TestAnswer> =>
  node.api.send('DELETE', `/api/api-tokens/${id}`, { session });
const list = async (): Promise<ApiToken[]> =>
  ApiTokenList.parse((await node.api.send('GET', '/api/api-tokens', { session })).body);

describe('an API token', () => {
  test('is in the audit log with each change, but without its key', async () => {
    const { id, key } = await makeToken(node.api, session, { name: 'a', role: 'viewer' });
    await put(id, { name: 'b', key: IMPORTED });
    await remove(id);
    const { rows } = await node.suite.database.query<{ actor: string; action: string; subject: string }>(
      `SELECT actor, action, subject, before, after FROM audit_log WHERE subject LIKE 'API token %' ORDER BY id`,
    );
    expect(rows).toMatchObject([
      {
        actor: 'admin',
        action: 'created',
        subject: 'API token a',
        before: null,
        after: { id, role: 'viewer' },
      },
      { action: 'changed', before: { name: 'a' }, after: { name: 'b', key_changed: true } },
      { action: 'deleted', subject: 'API token b', before: { name: 'b' }, after: null },
    ]);
    const text = JSON.stringify(rows);
    expect([text.includes(key.slice(9)), text.includes(IMPORTED)]).toEqual([false, false]);
  });

  test('is shown once, listed with its prefix, and stored as a SHA-256 hash', async () => {
    const made = await makeToken(node.api, session, { name: 'Home Assistant' });
    expect(made).toMatchObject({ name: 'Home Assistant', role: 'admin', last_used_at: null });
    expect(made.key).toMatch(/^weir_[\w-]{43}$/);
    expect(made.prefix).toBe(made.key.slice(0, 8));
    const { key, ...listed } = made;
    expect(await list()).toEqual([listed]);
    const { rows } = await node.suite.database.query<{ row: string; is_hash: boolean }>(
      'SELECT t::text AS row, key_hash = sha256($1::text::bytea) AS is_hash FROM api_tokens t',
      [key],
    );
    expect(rows).toEqual([{ row: expect.not.stringContaining(key.slice(9)), is_hash: true }]);
    expect(node.api.logger.text()).not.toContain(key.slice(9));
  });

  test('allows requests according to its own role, without a cookie', async () => {
    const admin = await makeToken(node.api, session, { name: 'a' });
    const viewer = await makeToken(node.api, session, { name: 'v', role: 'viewer' });
    const create = (key: string, name: string) => withKey(node.api, 'POST', '/groups', key, { name });
    expect((await create(admin.key, 'Kids')).status).toBe(201);
    const refused = await create(viewer.key, 'Guests');
    expect([refused.status, refused.problem.error, refused.problem.detail]).toEqual([
      403,
      'forbidden',
      'this API token has the role viewer and can only read',
    ]);
    expect(await statusWith(viewer.key)).toBe(200);
    for (const key of [`${admin.key}x`, admin.key.slice(1), admin.prefix, 'x', IMPORTED])
      expect([key, await statusWith(key)]).toEqual([key, 401]);
    const { rows } = await node.suite.database.query<{ author: string }>('SELECT author FROM revisions');
    expect(rows).toEqual([{ author: 'token a' }]);
  });

  test('or a session is sufficient alone, even if the other of the two is present and invalid', async () => {
    const { key } = await makeToken(node.api, session, { name: 'a' });
    await makeUser(node.api, session, { username: 'vera' });
    const viewer = await logInAs(node.api, 'vera');
    const post = async (cookie: string, sentKey: string, name: string): Promise<number> => {
      const headers = { 'x-api-key': sentKey };
      return (await node.api.send('POST', '/api/groups', { session: cookie, headers, json: { name } }))
        .status;
    };
    expect(await post('A'.repeat(43), key, 'one')).toBe(201);
    expect(await post(session, 'x'.repeat(30), 'two')).toBe(201);
    expect(await post(viewer, key, 'three')).toBe(201);
    expect(await post(viewer, 'x'.repeat(30), 'four')).toBe(403);
    expect(await post('A'.repeat(43), 'x'.repeat(30), 'five')).toBe(401);
  });

  test('can have a key imported from another program, unless another token has this key', async () => {
    const made = await makeToken(node.api, session, { name: 'a' });
    const other = await makeToken(node.api, session, { name: 'b', role: 'viewer' });
    const answer = await put(made.id, { key: IMPORTED });
    const { key: old, ...before } = made;
    expect(ApiToken.parse(answer.body)).toEqual({ ...before, prefix: 'V2hhdC' });
    expect(answer.text).not.toContain(IMPORTED);
    expect([await statusWith(IMPORTED), await statusWith(old)]).toEqual([200, 401]);
    const taken = await put(other.id, { key: IMPORTED });
    expect([taken.status, taken.problem.error]).toEqual([409, 'conflict']);
    expect((await put(made.id, { key: IMPORTED })).status).toBe(200);
    const renamed = ApiToken.parse((await put(other.id, { name: 'c' })).body);
    expect([renamed.name, renamed.role, await statusWith(other.key)]).toEqual(['c', 'viewer', 200]);
    expect(ApiToken.parse((await put(made.id, { role: 'viewer' })).body).role).toBe('viewer');
    expect((await withKey(node.api, 'POST', '/groups', IMPORTED, { name: 'x' })).status).toBe(403);
    expect([(await put(99, {})).status, (await put(made.id, {})).status]).toEqual([404, 200]);
  });

  test.each([
    ['short', 'x1y2z3a4b5c6d7e8f9g'],
    ['monotonous', 'abcdefg'.repeat(4)],
    ['with a blank', 'V2hhdCBQaS1ob2xl IG1hZGU'],
    ['no ASCII', 'V2hhdCBQaS1ob2xlIG1hZGÜ='],
    ['long', 'abcdefgh'.repeat(33)],
    ['a number', 1234567890123456],
  ])('cannot have an imported key that is %s', async (_what, key) => {
    const { id } = await makeToken(node.api, session, { name: 'a' });
    const answer = await put(id, { key });
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'key']);
    expect(answer.text).not.toContain(String(key));
  });

  test('ends at once on the node that revokes it, and within a second on other nodes', async () => {
    const [one, two] = [
      await makeToken(node.api, session, { name: 'a' }),
      await makeToken(node.api, session, { name: 'b' }),
    ];
    const other = await RunningApi.start(node.suite.database, everyRoute(), {
      toml: '',
      clock: node.api.clock,
    });
    expect([await statusWith(one.key, other), await statusWith(one.key)]).toEqual([200, 200]);
    expect((await remove(one.id)).status).toBe(204);
    expect([await statusWith(one.key), await statusWith(two.key)]).toEqual([401, 200]);
    node.api.clock.advanceSecs(1);
    expect([await statusWith(one.key, other), await statusWith(two.key, other)]).toEqual([401, 200]);
    await other.close();
    expect((await remove(one.id)).status).toBe(404);
  });

  test('records at most once a minute that it was used', async () => {
    const { key } = await makeToken(node.api, session, { name: 'a' });
    const usedAt = async (): Promise<number> => Date.parse((await list())[0]!.last_used_at!);
    await statusWith(key);
    const first = await usedAt();
    expect(first).toBe(node.api.clock.nowMs());
    node.api.clock.advanceSecs(59);
    await statusWith(key);
    expect(await usedAt()).toBe(first);
    node.api.clock.advanceSecs(1);
    await Promise.all([statusWith(key), statusWith(key)]);
    expect(await usedAt()).toBe(first + 60_000);
  });

  test('cannot be used to change a password', async () => {
    const { key } = await makeToken(node.api, session, { name: 'a' });
    const json = { current_password: PASSWORD, new_password: 'another password' };
    const answer = await withKey(node.api, 'POST', '/auth/change-password', key, json);
    expect([answer.status, answer.problem.detail]).toEqual([403, expect.stringContaining('no password')]);
  });

  test.each([{ name: '' }, { name: ' a' }, { name: 'x'.repeat(101) }, { name: 'a', role: 'root' }, {}])(
    'is not created from %j',
    async (json) => {
      expect((await node.api.send('POST', '/api/api-tokens', { session, json })).status).toBe(400);
    },
  );
});
