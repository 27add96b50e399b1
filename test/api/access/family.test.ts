/**
 * Rights of a user of the role family: it sees the clients that an admin has linked to it, and creates temporary grants
 * for them.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ClientPage } from '../../../shared/api/policy/clients-api.ts';
import { Grant, GrantList } from '../../../shared/api/policy/grants-api.ts';
import { User } from '../../../shared/api/users-api.ts';
import { AuthSuite } from '../../support/parts/auth-suite.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { logInAs, makeUser } from '../../support/parts/people.ts';
import { RunningApi, type TestAnswer } from '../../support/parts/running-api.ts';
import { until, within } from '../../support/parts/until.ts';

const node = new AuthSuite();

let admin: string;
let frida: User;
let family: string;
/** Clients: linked to the user, linked to another user, and not linked. */
let tablet: number;
let theirs: number;
let free: number;

const send = (session: string, method: string, path: string, json?: unknown): Promise<TestAnswer> =>
  node.api.send(method, `/api${path}`, { session, ...(json === undefined ? {} : { json }) });

async function made(path: string, json: object): Promise<number> {
  const answer = await send(admin, 'POST', path, json);
  expect([path, answer.status, answer.text]).toEqual([path, 201, expect.anything()]);
  return (answer.body as { id: number }).id;
}
const link = (id: number, clientIds: readonly number[]): Promise<TestAnswer> =>
  send(admin, 'PATCH', `/users/${id}`, { client_ids: clientIds });
const grantOf = async (session: string, json: object): Promise<Grant> =>
  Grant.parse((await send(session, 'POST', '/grants', json)).body);
const shownGrants = async (session: string): Promise<number[]> =>
  GrantList.parse((await send(session, 'GET', '/grants')).body).map(({ id }) => id);
const shownClients = async (session: string, query = ''): Promise<number[]> =>
  ClientPage.parse((await send(session, 'GET', `/clients${query}`)).body).data.map(({ id }) => id);
const auditOf = async (count: number): Promise<unknown[]> =>
  (
    await node.suite.database.query<{ row: string }>(
      `SELECT actor || ' ' || action || ' ' || subject AS row FROM audit_log ORDER BY id DESC LIMIT $1`,
      [count],
    )
  ).rows.map(({ row }) => row);

beforeEach(async () => {
  await node.api.setUp();
  admin = await node.api.logIn();
  tablet = await made('/clients', { ip_address: '192.0.2.7', name: 'Täblet 王 📱' });
  theirs = await made('/clients', { ip_address: '192.0.2.8', name: 'Tablet' });
  free = await made('/clients', { mac_address: '02:00:5e:10:00:09', ip_address: '192.0.2.9' });
  frida = await makeUser(node.api, admin, { username: 'frida', role: 'family' });
  const otto = await makeUser(node.api, admin, { username: 'otto', role: 'family' });
  await link(frida.id, [tablet]);
  await link(otto.id, [theirs]);
  family = await logInAs(node.api, 'frida');
});

describe('a user of the role family', () => {
  test('sees only its own clients in lists, totals, searches and by ID', async () => {
    expect(await shownClients(family)).toEqual([tablet]);
    expect((await send(family, 'GET', '/clients')).body).toMatchObject({ total: 1 });
    expect(await shownClients(family, '?search=192.0.2')).toEqual([tablet]);
    expect(await shownClients(family, '?search=192.0.2.8')).toEqual([]);
    expect(await shownClients(family, '?group_id=1')).toEqual([tablet]);
    expect(await shownClients(admin)).toHaveLength(3);
    const statuses = [];
    for (const id of [tablet, theirs, free, 4711])
      statuses.push((await send(family, 'GET', `/clients/${id}`)).status);
    expect(statuses).toEqual([200, 404, 404, 404]);
  });

  test('sees only the grants for its clients, not for groups or for all clients', async () => {
    const own = await grantOf(admin, { client_id: tablet, secs: 60 });
    const others = [];
    for (const json of [{ client_id: theirs, secs: 60 }, { group_id: 1, secs: 60 }, { secs: 60 }])
      others.push((await grantOf(admin, json)).id);
    expect(await shownGrants(family)).toEqual([own.id]);
    expect((await send(family, 'GET', `/grants/${own.id}`)).status).toBe(200);
    for (const id of [...others, 4711])
      for (const method of ['GET', 'DELETE'])
        expect([id, method, (await send(family, method, `/grants/${id}`)).status]).toEqual([id, method, 404]);
    expect(await shownGrants(admin)).toHaveLength(4);
  });

  test('pauses a client, allows a name temporarily and ends both, with audit log entries', async () => {
    const pause = await grantOf(family, { client_id: tablet, action: 'block', secs: 1800 });
    const name = await grantOf(family, { client_id: tablet, domain: 'Bücher.example', secs: 600 });
    expect([pause.domain, name.domain]).toEqual([null, 'xn--bcher-kva.example']);
    for (const { id } of [pause, name])
      expect((await send(family, 'DELETE', `/grants/${id}`)).status).toBe(204);
    expect(await auditOf(4)).toEqual([
      `frida deleted grant ${name.id}: allow xn--bcher-kva.example for client ${tablet}`,
      `frida deleted grant ${pause.id}: block every name for client ${tablet}`,
      `frida created grant ${name.id}: allow xn--bcher-kva.example for client ${tablet}`,
      `frida created grant ${pause.id}: block every name for client ${tablet}`,
    ]);
  });

  test('allows a service for its client temporarily, and sees the services blocked for its client only', async () => {
    const made = await grantOf(family, { client_id: tablet, service_id: 'youtube', secs: 600 });
    expect(made).toMatchObject({ service_id: 'youtube', service_name: 'YouTube', domain: null });
    expect(await auditOf(1)).toEqual([
      `frida created grant ${made.id}: allow service youtube for client ${tablet}`,
    ]);
    const statuses = [];
    for (const id of [tablet, theirs, free, 4711])
      statuses.push((await send(family, 'GET', `/clients/${id}/services`)).status);
    expect(statuses).toEqual([200, 404, 404, 404]);
    for (const path of ['/services', '/services/catalog', '/services/catalog/youtube'])
      expect([path, (await send(family, 'GET', path)).problem]).toMatchObject([
        path,
        {
          status: 403,
          detail: 'the role family can only read about its devices and create grants for them',
        },
      ]);
  });

  const HOUR_MS = 3_600_000;
  test.each<[string, (nowMs: number) => object]>([
    ['for a client of another user', () => ({ client_id: theirs, secs: 60 })],
    ['for a client of no user', () => ({ client_id: free, secs: 60 })],
    ['for a client that does not exist', () => ({ client_id: 4711, secs: 60 })],
    ['for a group', () => ({ group_id: 1, secs: 60 })],
    ['for everyone', () => ({ secs: 60 })],
    [
      'of a service for a client of another user',
      () => ({ client_id: theirs, service_id: 'youtube', secs: 60 }),
    ],
    ['of a service for everyone', () => ({ service_id: 'youtube', secs: 60 })],
    ['of a service without an end', () => ({ client_id: tablet, service_id: 'youtube' })],
    ['without an end', () => ({ client_id: tablet })],
    ['that blocks without an end', () => ({ client_id: tablet, action: 'block' })],
    [
      'that ends after the next morning',
      (nowMs) => ({ client_id: tablet, until: new Date(nowMs + 36 * HOUR_MS + 1000).toISOString() }),
    ],
  ])('cannot create a grant %s', async (_what, json) => {
    const answer = await send(family, 'POST', '/grants', json(node.api.clock.nowMs()));
    expect([answer.status, answer.problem.error]).toEqual([403, 'forbidden']);
    expect(await shownGrants(admin)).toEqual([]);
  });

  test('creates a grant until the next morning, and cannot delete a grant without an end', async () => {
    const morning = new Date(node.api.clock.nowMs() + 36 * HOUR_MS).toISOString();
    expect((await grantOf(family, { client_id: tablet, until: morning })).until).toBe(morning);
    const { id } = await grantOf(admin, { client_id: tablet });
    expect((await send(family, 'DELETE', `/grants/${id}`)).status).toBe(403);
    expect(await shownGrants(family)).toContain(id);
  });

  test('identifies its client only by ID: addresses, names and other texts are rejected', async () => {
    for (const clientId of ['192.0.2.7', 'Täblet 王 📱', `${tablet}`, [tablet], tablet + 0.5, -tablet, null])
      expect([400, 403]).toContain(
        (await send(family, 'POST', '/grants', { client_id: clientId, secs: 60 })).status,
      );
    for (const path of ['/clients/192.0.2.7', `/clients/0${theirs}/`, '/clients/%00'])
      expect((await send(family, 'GET', path)).status).not.toBe(200);
    expect(await shownGrants(admin)).toEqual([]);
  });

  test('has no rights in 20 concurrent requests once an administrator has unlinked the client', async () => {
    const body = { client_id: tablet, secs: 60 };
    const [unlinked, ...answers] = await Promise.all([
      link(frida.id, []),
      ...Array.from({ length: 20 }, () => send(family, 'POST', '/grants', body)),
    ]);
    expect(unlinked.status).toBe(200);
    expect(answers.every(({ status }) => status === 201 || status === 403)).toBe(true);
    expect((await send(family, 'POST', '/grants', body)).status).toBe(403);
    expect([await shownClients(family), await shownGrants(family)]).toEqual([[], []]);
  });

  test('gets 403 if its client is unlinked between authentication and the change', async () => {
    const { database } = node.suite;
    let answer: Promise<TestAnswer> | undefined;
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [frida.id]);
      await tx.query('DELETE FROM user_clients WHERE user_id = $1', [frida.id]);
      answer = send(family, 'POST', '/grants', { client_id: tablet, secs: 60 });
      await until(
        'the request to wait for the link',
        async () =>
          (await database.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rowCount,
        (count) => (count ?? 0) > 0,
      );
    });
    expect((await within('the answer', answer!)).status).toBe(403);
    expect(await shownGrants(admin)).toEqual([]);
  });

  test('loses a deleted client with its grants, and gets the client back only by a new link', async () => {
    await grantOf(family, { client_id: tablet, secs: 60 });
    expect((await send(admin, 'DELETE', `/clients/${tablet}`)).status).toBe(204);
    expect([await shownClients(family), await shownGrants(family)]).toEqual([[], []]);
    expect((await send(family, 'POST', '/grants', { client_id: tablet, secs: 60 })).status).toBe(403);
    const again = await made('/clients', { ip_address: '192.0.2.7' });
    expect(await shownClients(family)).toEqual([]);
    await link(frida.id, [again]);
    expect(await shownClients(family)).toEqual([again]);
  });

  test('loses its rights on all nodes, and its linked clients permanently, when its role changes', async () => {
    const other = await RunningApi.start(node.suite.database, everyRoute(), { toml: '' });
    const there = await logInAs(other, 'frida');
    const changed = await send(admin, 'PATCH', `/users/${frida.id}`, { role: 'viewer' });
    expect(User.parse(changed.body)).toMatchObject({ role: 'viewer', client_ids: [] });
    for (const [api, session] of [
      [node.api, family],
      [other, there],
    ] as const)
      expect((await api.send('GET', '/api/clients', { session })).status).toBe(401);
    await other.close();
    await send(admin, 'PATCH', `/users/${frida.id}`, { role: 'family' });
    expect(await shownClients(await logInAs(node.api, 'frida'))).toEqual([]);
  });

  test('sees and ends only its own sessions', async () => {
    const { body } = await send(admin, 'GET', '/auth/sessions');
    const sessions = body as { id: number; username: string }[];
    const own = sessions.find(({ username }) => username === 'frida')!;
    const ofAdmin = sessions.find(({ username }) => username === 'admin')!;
    expect((await send(family, 'GET', '/auth/sessions')).body).toMatchObject([{ id: own.id }]);
    expect((await send(family, 'DELETE', `/auth/sessions/${ofAdmin.id}`)).status).toBe(404);
    expect((await send(family, 'DELETE', `/auth/sessions/${own.id}`)).status).toBe(204);
    expect((await send(family, 'GET', '/clients')).status).toBe(401);
  });

  test('sees the same health data as an anonymous client', async () => {
    const [own, stranger] = [await send(family, 'GET', '/health'), await node.api.send('GET', '/api/health')];
    const checks = (answer: TestAnswer): unknown => (answer.body as { checks: unknown }).checks;
    expect(checks(own)).toEqual(checks(stranger));
  });
});

describe('the clients linked to a user', () => {
  test('are a field of the user, in order, audited, and part of its ETag', async () => {
    const before = await send(admin, 'GET', `/users/${frida.id}`);
    const answer = await link(frida.id, [free, tablet]);
    expect(User.parse(answer.body).client_ids).toEqual([tablet, free]);
    expect(answer.headers['etag']).not.toBe(before.headers['etag']);
    const { rows } = await node.suite.database.query(
      'SELECT before, after FROM audit_log ORDER BY id DESC LIMIT 1',
    );
    expect(rows[0]).toMatchObject({
      before: { client_ids: [tablet] },
      after: { client_ids: [tablet, free] },
    });
  });

  test.each<[string, () => object]>([
    ['a duplicate', () => ({ client_ids: [tablet, tablet] })],
    ['an unknown client', () => ({ client_ids: [tablet, 4711] })],
    ['a client for another role', () => ({ role: 'viewer', client_ids: [tablet] })],
    ['more than fit', () => ({ client_ids: Array.from({ length: 1001 }, (_, n) => n + 1) })],
  ])('are not changed by a request with %s', async (_what, json) => {
    const answer = await send(admin, 'PATCH', `/users/${frida.id}`, json());
    expect([answer.status, answer.problem.errors!.map(({ path }) => path)]).toEqual([400, ['client_ids']]);
    expect(await shownClients(family)).toEqual([tablet]);
    const create = { username: 'karl', password: 'a password of karl', role: 'family' };
    expect((await send(admin, 'POST', '/users', { ...create, ...json() })).status).toBe(400);
  });

  test('cannot contain a client that was merged into another client; the error names that client', async () => {
    expect((await send(admin, 'POST', `/clients/${theirs}/merge`, { client_ids: [free] })).status).toBe(200);
    const answer = await link(frida.id, [tablet, free]);
    expect([answer.status, answer.problem.errors]).toEqual([
      400,
      [
        {
          path: 'client_ids.1',
          message: `client ${free} is part of client ${theirs}; expected that one`,
        },
      ],
    ]);
    expect(await shownClients(family)).toEqual([tablet]);
    expect((await link(frida.id, [tablet, theirs])).status).toBe(200);
  });

  test('are those of exactly one of two concurrent requests', async () => {
    const answers = await Promise.all([link(frida.id, [tablet, free]), link(frida.id, [theirs])]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([[theirs], [tablet, free]]).toContainEqual((await shownClients(family)).sort((a, b) => a - b));
  });

  test('are not deleted automatically, even if they were only discovered', async () => {
    const { database } = node.suite;
    const { rows } = await database.query<{ id: number }>(
      `INSERT INTO clients (ip_address, last_seen) VALUES ('192.0.2.70', '2020-01-01') RETURNING id`,
    );
    await link(frida.id, [rows[0]!.id]);
    const { deleteUnseen } = await import('../../../control-plane/clients/devices/client-store.ts');
    expect(await deleteUnseen(database, node.api.clock.nowMs())).toEqual([]);
  });

  test('cannot be set for the configured administrator', async () => {
    expect((await send(admin, 'PATCH', '/users/1', { role: 'family' })).status).toBe(403);
    expect((await link(1, [tablet])).status).toBe(400);
  });
});
