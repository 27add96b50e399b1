/** Users, API tokens and grants of a backup: the content of the file, and which rights a restore may change. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AuditLogPage } from '../../../shared/api/audit-api.ts';
import { BackupFile, RestoreAnswer } from '../../../shared/api/policy/backup-api.ts';
import type { BackupText } from '../../../shared/api/policy/backup-api.ts';
import { decrypted, PASSPHRASE } from '../../../test/support/parts/backup-suite.ts';
import { AuthSuite } from '../../../test/support/parts/auth-suite.ts';
import { logInAs, makeToken, makeUser, USER_PASSWORD, withKey } from '../../../test/support/parts/people.ts';
import { PASSWORD, type TestAnswer } from '../../../test/support/parts/running-api.ts';

const node = new AuthSuite();
let session: string;
let key: string;

beforeEach(async () => {
  await node.api.setUp();
  session = await node.api.logIn();
  await makeUser(node.api, session, { username: 'Vera' });
  ({ key } = await makeToken(node.api, session, { name: 'Grafana', role: 'viewer' }));
  const json = { ip_address: '192.0.2.7', name: 'tablet' };
  const { body } = await node.api.send('POST', '/api/clients', { session, json });
  for (const grant of [
    { domain: 'games.example', client_id: (body as { id: number }).id, secs: 600 },
    { domain: null, group_id: 1, secs: 60, action: 'block' },
  ])
    await node.api.send('POST', '/api/grants', { session, json: grant });
});

async function backUp(): Promise<BackupText> {
  const { body } = await node.api.send('GET', '/api/backup', { session });
  BackupFile.parse(body);
  return body as BackupText;
}

/** Fields of each file. */
function headOf({ created_at, weir, node: name, has_secrets }: BackupText): object {
  return { created_at, weir, node: name, has_secrets };
}

async function backUpSecrets(): Promise<BackupText> {
  const json = { passphrase: PASSPHRASE };
  const { body } = await node.api.send('POST', '/api/backup', { session, json });
  return decrypted(body as BackupText);
}

const send = (json: object, query = ''): Promise<TestAnswer> =>
  node.api.send('POST', `/api/restore${query}`, { session, json });

/** The part of a restore's response about users, tokens and grants, and about omitted objects. */
async function restore(json: object, query = ''): Promise<unknown> {
  const answer = await send(json, query);
  if (answer.status !== 200) throw new Error(answer.text);
  const { changes, left_out: leftOut } = RestoreAnswer.parse(answer.body);
  const shown = changes.map(({ kind, created, changed, removed }): [string, unknown] => [
    kind,
    [created.names, changed.names, removed.names],
  ]);
  return Object.fromEntries(leftOut.length === 0 ? shown : [...shown, ['left_out', leftOut]]);
}

describe('a backup of accounts and grants', () => {
  test('contains users, tokens and active grants, and hashes only if requested', async () => {
    node.api.clock.advanceSecs(100);
    const { users, api_tokens: tokens, grants } = await backUp();
    expect(users).toEqual([
      { username: 'Vera', display_name: '', role: 'viewer', enabled: true, password_hash: null },
    ]);
    expect(tokens).toMatchObject([{ name: 'Grafana', role: 'viewer', key_hash: null }]);
    expect(grants).toMatchObject([
      { domain: 'games.example', client: '192.0.2.7', group: null, action: 'allow' },
    ]);
    const secret = JSON.stringify(await backUpSecrets());
    expect(secret).toMatch(/\$argon2id\$.*"key_hash":"[0-9a-f]{64}"/);
    for (const hidden of [PASSWORD, USER_PASSWORD, key, 'admin_credential'])
      expect(secret).not.toContain(hidden);
  });

  test('changes nothing if it is restored on the same node, with or without hashes', async () => {
    for (const file of [await backUp(), await backUpSecrets()]) expect(await restore(file)).toEqual({});
    expect(await node.isIn(session)).toBe(true);
  });
});

describe('the restore of a backup', () => {
  test('with hashes restores everything that was lost, with the old password and API token', async () => {
    const file = await backUpSecrets();
    const gone = await restore({ ...file, users: [], api_tokens: [], grants: [] });
    expect(gone).toMatchObject({
      users: [[], [], ['Vera (viewer)']],
      api_tokens: [[], [], ['Grafana (viewer)']],
      grants: [[], [], [expect.stringContaining('Default block'), expect.stringContaining('192.0.2.7')]],
    });
    expect((await withKey(node.api, 'GET', '/groups', key)).status).toBe(401);
    expect((await node.logIn(USER_PASSWORD, { username: 'vera' })).status).toBe(401);
    expect(await restore(file)).toMatchObject({
      users: [['Vera (viewer)'], [], []],
      api_tokens: [['Grafana (viewer)'], [], []],
    });
    expect((await withKey(node.api, 'GET', '/groups', key)).status).toBe(200);
    expect(await node.isIn(await logInAs(node.api, 'vera'))).toBe(true);
    expect(await restore(file)).toEqual({});
  });

  test('reports clients by their name and by the address or key that identifies them', async () => {
    const file = await backUp();
    expect(await restore({ ...file, clients: [], grants: [] }, '?dry_run=true')).toMatchObject({
      clients: [[], [], ['tablet (192.0.2.7)']],
    });
  });

  test('restores the devices of a user of the role family, but only known clients, and only for this role', async () => {
    const { database } = node.suite;
    await database.query(`INSERT INTO users (username, role) VALUES ('frida', 'family')`);
    await database.query(
      `INSERT INTO user_clients SELECT u.id, c.id FROM users u, clients c WHERE username = 'frida'`,
    );
    const file = await backUp();
    const link = { username: 'frida', client: '192.0.2.7' };
    expect(file.user_clients).toEqual([link]);
    expect(await restore({ ...file, user_clients: [] })).toEqual({
      user_clients: [[], [], ['frida 192.0.2.7']],
    });
    const unknown = { username: 'frida', client: '192.0.2.99' };
    expect(await restore({ ...file, user_clients: [link, unknown] })).toEqual({
      user_clients: [['frida 192.0.2.7'], [], []],
      left_out: [{ kind: 'user_clients', name: 'frida 192.0.2.99', reason: 'client_not_known' }],
    });
    const users = file.users!.map((user) => ({ ...user, role: 'viewer' as const }));
    for (const refused of [{ users }, { user_clients: [{ ...link, username: 'karl' }] }]) {
      const { status, problem } = await send({ ...file, ...refused });
      expect([status, problem.errors!.map(({ path }) => path)]).toEqual([400, ['user_clients.0.username']]);
    }
    await restore({ format: file.format, version: file.version, ...headOf(file), users });
    expect((await backUp()).user_clients).toEqual([]);
  });

  test('without hashes creates users without a password, and names each token that it leaves out', async () => {
    await makeToken(node.api, session, { name: 'Backups', role: 'admin' });
    const file = await backUp();
    await restore({ ...file, users: [], api_tokens: [] });
    const left = { kind: 'api_tokens', reason: 'key_not_in_backup' };
    const report = {
      users: [['Vera (viewer)'], [], []],
      left_out: ['Backups (admin)', 'Grafana (viewer)'].map((name) => ({ ...left, name })),
    };
    expect(await restore(file, '?dry_run=true')).toEqual(report);
    expect(await restore(file)).toEqual(report);
    expect((await backUp()).api_tokens).toEqual([]);
    expect((await node.logIn(USER_PASSWORD, { username: 'vera' })).status).toBe(401);
  });

  test('reports each role that it raises and each password that it sets, with dry_run and without', async () => {
    const own = await logInAs(node.api, 'vera');
    const file = await backUpSecrets();
    const [vera] = file.users!;
    const [token] = file.api_tokens!;
    const raised = {
      ...file,
      users: [
        { ...vera!, role: 'admin' as const, password_hash: vera!.password_hash!.replace('t=1', 't=2') },
      ],
      api_tokens: [{ ...token!, role: 'admin' as const }],
    };
    const report = {
      users: [[], ['Vera (viewer → admin, another password or key)'], []],
      api_tokens: [[], ['Grafana (viewer → admin)'], []],
    };
    expect(await restore(raised, '?dry_run=true')).toEqual(report);
    expect(await node.isIn(own)).toBe(true);
    expect(await restore(raised)).toEqual(report);
    // The session was opened with the earlier rights and password, so it has ended.
    expect(await node.isIn(own)).toBe(false);
    const { body } = await node.api.send('GET', '/api/audit-log?limit=1', { session });
    const text = JSON.stringify(AuditLogPage.parse(body).data);
    expect(text).toMatch(/"role":"viewer".*"role":"admin"/);
    expect(text).not.toMatch(/argon2id|[0-9a-f]{64}/);
  });

  test('restores second factors, and refuses codes that were used before', async () => {
    const own = `FROM users u WHERE u.username = 'Vera'`;
    const { database } = node.suite;
    await database.query(`INSERT INTO second_factors (user_id, secret, confirmed_at, last_step)
      SELECT u.id, '\\x0102030405060708090a', now(), 77 ${own}`);
    await database.query(`INSERT INTO recovery_codes (user_id, code_hash) SELECT u.id, sha256('1') ${own}`);
    expect((await backUp()).second_factors).toEqual([{ username: 'Vera', factor: null }]);
    const file = await backUpSecrets();
    expect(await restore(file)).toEqual({});
    const { second_factors: factors, ...others } = file;
    expect(await restore({ ...others, second_factors: [] })).toEqual({ second_factors: [[], [], ['Vera']] });
    expect(await restore(await backUp())).toEqual({});
    const hidden = { ...others, second_factors: [{ username: 'Vera', factor: null }] };
    expect(await restore(hidden)).toEqual({
      left_out: [{ kind: 'second_factors', name: 'Vera', reason: 'key_not_in_backup' }],
    });
    expect(await restore(file)).toEqual({ second_factors: [['Vera'], [], []] });
    expect((await backUpSecrets()).second_factors).toEqual(factors);
    await database.query('UPDATE second_factors SET last_step = 78');
    await restore({
      ...file,
      second_factors: [{ ...factors![0]!, factor: { ...factors![0]!.factor!, recovery_codes: [] } }],
    });
    const { rows } = await database.query('SELECT last_step FROM second_factors');
    expect(rows).toEqual([{ last_step: 78 }]);
    const { body } = await node.api.send('GET', '/api/audit-log?limit=50', { session });
    expect(JSON.stringify(body)).not.toContain('0102030405');
  });

  test('never changes the administrator', async () => {
    const file = await backUpSecrets();
    const admin = { username: 'admin', display_name: 'x', role: 'viewer', enabled: false };
    await restore({ ...file, users: [admin] });
    expect(await node.isIn(session)).toBe(true);
    expect((await node.logIn(PASSWORD)).body).toMatchObject({ username: 'admin', role: 'admin' });
  });

  test('leaves out a user with the name of the administrator, in any letter case', async () => {
    const file = await backUp();
    const boss = { ...file.users![0]!, username: 'AdMin', role: 'admin' as const };
    expect(await restore({ ...file, users: [...file.users!, boss] })).toMatchObject({
      left_out: [{ kind: 'users', name: expect.stringContaining('AdMin'), reason: 'is_administrator' }],
    });
    const { rows } = await node.suite.database.query(`SELECT 1 FROM users WHERE lower(username) = 'admin'`);
    expect(rows).toEqual([]);
  });

  test('refuses a configuration that gives the administrator the name of a user, in any Unicode form', async () => {
    const file = await backUp();
    const { users, ...withoutUsers } = file;
    const named = (username: string) => ({
      configuration: { ...file.configuration, 'auth.admin.username': username },
    });
    const boss = { ...users![0]!, username: 'boss' };
    for (const json of [
      { ...withoutUsers, ...named('vera') },
      { ...file, ...named('ＶＥＲＡ') },
      { ...file, ...named('\u017fepp'), users: [...users!, { ...boss, username: 'Sepp' }] },
      { ...file, ...named('bo\u00adss'), users: [boss] },
    ])
      for (const query of ['?dry_run=true', '']) {
        const answer = await send(json, query);
        expect([answer.status, answer.problem.errors]).toEqual([
          400,
          [{ path: 'configuration.auth.admin.username', message: expect.stringContaining('a user has') }],
        ]);
      }
    expect((await node.logIn(USER_PASSWORD, { username: 'vera' })).body).toMatchObject({ role: 'viewer' });
    expect(await restore({ ...file, ...named('Chef') })).toMatchObject({ configuration: expect.anything() });
  });

  test('leaves out expired grants, and grants of unknown clients', async () => {
    const file = await backUp();
    const [block, grant] = file.grants!;
    node.api.clock.advanceSecs(100);
    expect(await restore({ ...file, grants: [{ ...grant!, client: '192.0.2.99' }, block!] })).toEqual({
      grants: [[], [], [expect.stringContaining('192.0.2.7')]],
      left_out: [
        { kind: 'grants', name: expect.stringContaining('Default block'), reason: 'over' },
        { kind: 'grants', name: expect.stringContaining('192.0.2.99'), reason: 'client_not_known' },
      ],
    });
    expect((await backUp()).grants).toEqual([]);
  });

  test('keeps a grant that never expires for all groups, and refuses a grant for an unknown group', async () => {
    const everyone = grantOf({ until: null, subdomains: false });
    const service = grantOf({ domain: null, service_id: 'youtube', subdomains: true, group: 'Default' });
    const before = await backUp();
    await restore({ ...before, grants: [...before.grants!, service] });
    expect((await backUp()).grants).toContainEqual(service);
    await restore(before);
    expect((await backUp()).grants).toEqual(before.grants);
    const file = { ...(await backUp()), grants: [everyone] };
    await restore(file);
    expect((await backUp()).grants).toEqual([everyone]);
    const { status } = await send({ ...file, grants: [grantOf({ group: 'Gone' })] });
    expect(status).toBe(400);
    const left = await restore({
      ...file,
      grants: [everyone, grantOf({ client: '192.0.2.99', until: null })],
    });
    expect(left).toMatchObject({ left_out: [{ kind: 'grants', reason: 'client_not_known' }] });
    await restore({ ...file, grants: [] });
    expect((await backUp()).grants).toEqual([]);
  });

  test.each<[string, object, string]>([
    [
      'a password hash with too high a cost',
      { users: [{ username: 'a', role: 'viewer', password_hash: hash('m=9999999') }] },
      'users.0.password_hash',
    ],
    [
      'a password hash of another algorithm',
      { users: [{ username: 'a', role: 'viewer', password_hash: 'x' }] },
      'users.0.password_hash',
    ],
    ['a reserved name', { users: [{ username: 'system', role: 'viewer' }] }, 'users.0.username'],
    [
      'the same user twice',
      { users: ['a', 'A'].map((username) => ({ username, role: 'viewer' })) },
      'users.1',
    ],
    [
      'a grant for a client and a group',
      { grants: [grantOf({ client: '192.0.2.7', group: 'Default' })] },
      'grants.0.client',
    ],
    [
      'a grant for ten years',
      { grants: [grantOf({ group: 'Default', until: '2036-01-01T00:00:00.000Z' })] },
      'grants.0.until',
    ],
    [
      'a grant for a name and a service',
      { grants: [grantOf({ group: 'Default', service_id: 'youtube' })] },
      'grants.0.domain',
    ],
    [
      'a grant with an empty name',
      { grants: [grantOf({ group: 'Default', domain: 'A..b' })] },
      'grants.0.domain',
    ],
  ])('refuses %s', async (_what, change, path) => {
    const answer = await send({ ...(await backUp()), ...change });
    expect([answer.status, answer.problem.errors?.[0]?.path]).toEqual([400, path]);
  });
});

function hash(memory: string): string {
  return `$argon2id$v=19$${memory},t=1,p=1$fGnzXwd37n9p0sLKHS/c1A$RiZVKqwUVa5l8U7P0MFf9nM7WdXYQdM356Z`;
}

function grantOf(change: object): object {
  const until = '2026-01-16T12:00:00.000Z';
  const names = { domain: 'a.example', service_id: null };
  return { ...names, client: null, group: null, action: 'allow', until, ...change };
}
