/**
 * Requests of devices to unblock a name, from the page /check to the users who handle them, and abuse of such requests.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { UnblockAskAnswer, UnblockRequestList } from '../../../shared/api/unblocking/unblock-requests-api.ts';
import type { UnblockRequest } from '../../../shared/api/unblocking/unblock-requests-api.ts';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { logInAs, makeUser } from '../../../test/support/parts/people.ts';
import { RunningApi, SteeredClock } from '../../../test/support/parts/running-api.ts';
import type { TestAnswer, TestRequest } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { readClients } from '../../clients/devices/client-store.ts';
import { RequestWatch } from './request-watch.ts';

const TOML = 'server.trusted_proxies = ["127.0.0.1"]\nblocking.unblock_requests = true';
const HOUR_SECS = 3600;
const TABLET = '192.0.2.7';
const OTHER = '192.0.2.8';

const clock = new SteeredClock();
/** Addresses whose queries are refused, and names that are not blocked for an address. */
const refused = new Set(['198.51.100.1']);
const allowed = new Set([`open.example ${TABLET}`]);
const askingClients = {
  admits: (address: string) => !refused.has(address),
  statusFor: async (domain: string, address: string) =>
    allowed.has(`${domain} ${address}`) ? 'ALLOWED' : 'BLOCKED_SERVICE',
};

let api: RunningApi;
let suite: SuiteDatabase;
const restart = serveSuite(everyRoute(), (served) => ({ api, suite } = served), {
  ...{ clock, askingClients, perTest: true, toml: TOML },
});

let admin: string;
let tablet: number;

const send = (session: string, method: string, path: string, json?: object): Promise<TestAnswer> =>
  api.send(method, `/api${path}`, { session, ...(json && { json }) });
/** Sends a request from a client address, which a trusted proxy reports. */
const post = (address: string, { headers, ...request }: TestRequest, at = api): Promise<TestAnswer> =>
  at.send('POST', '/check/unblock-requests', {
    headers: { 'x-forwarded-for': address, ...headers },
    ...request,
  });
const ask = (address: string, domain: string, at = api): Promise<TestAnswer> =>
  post(address, { json: { domain } }, at);
const outcomeOf = async (answer: Promise<TestAnswer>): Promise<string> =>
  UnblockAskAnswer.parse((await answer).body).outcome;
const open = async (session = admin): Promise<UnblockRequest[]> =>
  UnblockRequestList.parse((await send(session, 'GET', '/unblock-requests')).body);
async function client(json: object): Promise<number> {
  const answer = await send(admin, 'POST', '/clients', json);
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return (answer.body as { id: number }).id;
}
const audited = async (): Promise<unknown[]> =>
  (
    await suite.database.query<{ row: string }>(
      `SELECT concat_ws(' ', actor, host(address), action, subject) AS row FROM audit_log
       WHERE subject LIKE 'unblock request%' ORDER BY id`,
    )
  ).rows.map(({ row }) => row);

beforeEach(async () => {
  await api.setUp();
  admin = await api.logIn({ remember_me: true });
  tablet = await client({ ip_address: TABLET, name: 'Täblet 📱' });
  await client({ ip_address: OTHER });
});

describe('a device that requests to unblock a name', () => {
  test('creates a request that users see until they dismiss it, and both actions are audited', async () => {
    expect(await outcomeOf(ask(TABLET, 'Bücher.Example.'))).toBe('asked');
    const [request] = await open();
    expect(request).toEqual({
      id: request!.id,
      domain: 'xn--bcher-kva.example',
      client_id: tablet,
      client_name: 'Täblet 📱',
      group_id: 1,
      created_at: new Date(clock.nowMs()).toISOString(),
      expires_at: new Date(clock.nowMs() + 24 * HOUR_SECS * 1000).toISOString(),
    });
    const path = `/unblock-requests/${request!.id}`;
    expect((await send(admin, 'GET', path)).body).toEqual(request);
    expect((await send(admin, 'DELETE', path)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await send(admin, method, path)).status).toBe(404);
    const subject = `unblock request ${request!.id}: xn--bcher-kva.example for client ${tablet}`;
    expect(await audited()).toEqual([
      `anonymous ${TABLET} created ${subject}`,
      `admin 127.0.0.1 closed ${subject}`,
    ]);
  });

  test('has one open request at most, even if it sends two requests to two nodes at the same time', async () => {
    const node = await RunningApi.start(suite.database, everyRoute(), { clock, askingClients, toml: TOML });
    node.parts.clients.load(await readClients(suite.database, 10));
    const outcomes = await Promise.all(
      [api, node, api, node].map((at, n) => outcomeOf(ask(TABLET, `n${n}.example`, at))),
    );
    await node.close();
    expect(outcomes.toSorted()).toEqual(['already_asked', 'already_asked', 'already_asked', 'asked']);
    expect(await outcomeOf(ask(OTHER, 'a.example'))).toBe('asked');
    expect(await open()).toHaveLength(2);
  });

  test('can only request names that are blocked for this device, whatever is blocked for others', async () => {
    expect(await outcomeOf(ask(TABLET, 'open.example'))).toBe('not_blocked');
    expect(await outcomeOf(ask(OTHER, 'open.example'))).toBe('asked');
    expect((await open()).map(({ client_name: name }) => name)).toEqual([OTHER]);
  });

  test('is refused if it was never seen', async () => {
    expect(await outcomeOf(ask('192.0.2.99', 'a.example'))).toBe('unknown_device');
    expect(await open()).toEqual([]);
  });

  test('can send a new request after the last one expired or was closed, at most four in an hour', async () => {
    await ask(TABLET, 'a.example');
    clock.advanceSecs(24 * HOUR_SECS);
    expect(await open()).toEqual([]);
    for (let n = 0; n < 4; n++) {
      expect(await outcomeOf(ask(TABLET, `again${n}.example`))).toBe('asked');
      await send(admin, 'DELETE', `/unblock-requests/${(await open())[0]!.id}`);
    }
    const answer = await ask(TABLET, 'more.example');
    expect([answer.status, answer.problem.error, answer.headers['retry-after']]).toEqual([
      ...[429, 'rate_limited', '3600'],
    ]);
    clock.advanceSecs(HOUR_SECS);
    expect(await outcomeOf(ask(TABLET, 'later.example'))).toBe('asked');
  });

  test('is deleted together with its request', async () => {
    await ask(TABLET, 'a.example');
    await send(admin, 'DELETE', `/clients/${tablet}`);
    expect(await open()).toEqual([]);
  });
});

describe('a request to unblock a name is refused', () => {
  test('unless the feature is enabled', async () => {
    await restart({ clock, askingClients, toml: 'server.trusted_proxies = ["127.0.0.1"]' });
    expect((await ask(TABLET, 'a.example')).status).toBe(404);
  });

  test('from an address that may not query, without information about names', async () => {
    const answers = [await ask('198.51.100.1', 'open.example'), await ask('198.51.100.1', 'a.example')];
    expect(answers.map(({ status, problem }) => [status, problem.detail])).toEqual([
      [403, 'this address is not allowed to send queries'],
      [403, 'this address is not allowed to send queries'],
    ]);
  });

  test.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'none'])(
    'from this machine if no trusted proxy sent it and the field %s names a device',
    async (field) => {
      await restart({ clock, askingClients, toml: 'blocking.unblock_requests = true' });
      await api.parts.database.query(
        `INSERT INTO clients (ip_address) VALUES ('127.0.0.1'), ('::1') ON CONFLICT DO NOTHING`,
      );
      api.parts.clients.load(await readClients(suite.database, 10));
      const headers: Record<string, string> = field === 'none' ? {} : { [field]: TABLET };
      const json = { domain: 'a.example' };
      const answer = await api.send('POST', '/check/unblock-requests', { json, headers });
      expect([answer.status, answer.problem.error]).toEqual([403, 'forbidden']);
      expect((await suite.database.query('SELECT FROM unblock_requests')).rows).toEqual([]);
    },
  );

  test('if a trusted proxy names no client; an address that a client forged is ignored', async () => {
    const json = { domain: 'a.example' };
    expect((await api.send('POST', '/check/unblock-requests', { json })).status).toBe(403);
    expect(await outcomeOf(post(`${TABLET}, ${OTHER}`, { json }))).toBe('asked');
    expect((await open()).map(({ client_name: name }) => name)).toEqual([OTHER]);
  });

  test('from pages of other sites, and without JSON', async () => {
    const json = { domain: 'a.example' };
    const statuses = [];
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      statuses.push((await post(TABLET, { json, headers })).status);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      statuses.push(
        (await post(TABLET, { raw: JSON.stringify(json), headers: { 'content-type': type } })).status,
      );
    expect(statuses).toEqual([403, 403, 415, 415]);
    expect(await open()).toEqual([]);
  });

  test.each<[string, object, number]>([
    ['no field "domain"', {}, 400],
    ['an empty name', { domain: '' }, 400],
    ['a wildcard', { domain: '*.example' }, 400],
    ['an address', { domain: '192.0.2.1' }, 400],
    ['a JSON string', { domain: 'a.example', text: 'please' }, 400],
    ['a JSON array', { domain: ['a.example'] }, 400],
    ['5000 bytes', { domain: 'a'.repeat(5000) }, 413],
  ])('with %s in its body', async (_what, json, status) => {
    expect((await post(TABLET, { json })).status).toBe(status);
    expect(await open()).toEqual([]);
  });

  test('after ten requests from one address in a minute, whatever names they are for', async () => {
    const statuses = [];
    for (let n = 0; n < 11; n++) statuses.push((await ask(TABLET, 'open.example')).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
    expect((await ask(OTHER, 'open.example')).status).toBe(200);
  });

  test('beyond 50 open requests of all devices, and beyond 100 in an hour', async () => {
    const fill = (count: number, isOpen: boolean): Promise<unknown> =>
      suite.database.query(
        `WITH made AS (INSERT INTO clients (ip_address)
           SELECT '198.18.0.0'::inet + n FROM generate_series(1, $1::integer) n
           ON CONFLICT DO NOTHING RETURNING id)
         INSERT INTO unblock_requests (client_id, domain, is_open, created_at)
         SELECT id, 'a.example', $2, $3 FROM made`,
        [count, isOpen, new Date(clock.nowMs())],
      );
    await fill(50, true);
    expect((await ask(TABLET, 'a.example')).status).toBe(429);
    await suite.database.query('UPDATE unblock_requests SET is_open = false');
    expect(await outcomeOf(ask(TABLET, 'a.example'))).toBe('asked');
    await suite.database.query(
      `INSERT INTO unblock_requests (client_id, domain, is_open, created_at)
       SELECT client_id, domain, false, created_at FROM unblock_requests WHERE NOT is_open LIMIT 49`,
    );
    expect((await ask(OTHER, 'a.example')).status).toBe(429);
  });
});

describe('users who handle requests to unblock a name', () => {
  test('see and close requests of linked devices only in the role family, and close none in the role viewer', async () => {
    const frida = await makeUser(api, admin, { username: 'frida', role: 'family' });
    await makeUser(api, admin, { username: 'vera' });
    await send(admin, 'PATCH', `/users/${frida.id}`, { client_ids: [tablet] });
    const [family, viewer] = [await logInAs(api, 'frida'), await logInAs(api, 'vera')];
    await ask(TABLET, 'mine.example');
    await ask(OTHER, 'other.example');
    const [mine, other] = (await open()).map(({ id }) => `/unblock-requests/${id}`) as [string, string];
    expect((await open(family)).map(({ domain }) => domain)).toEqual(['mine.example']);
    expect(await open(viewer)).toHaveLength(2);
    const statuses = [];
    for (const [session, method, path] of [
      [family, 'GET', other],
      [family, 'DELETE', other],
      [viewer, 'DELETE', mine],
      [family, 'GET', mine],
      [family, 'DELETE', mine],
      ['no session', 'GET', '/unblock-requests'],
      ['no session', 'DELETE', other],
    ] as const)
      statuses.push((await send(session, method, path)).status);
    expect(statuses).toEqual([404, 404, 403, 200, 204, 401, 401]);
    expect((await open()).map(({ domain }) => domain)).toEqual(['other.example']);
  });

  test('see the request of a merged client at the client that it was merged into', async () => {
    await ask(OTHER, 'a.example');
    const part = (await open())[0]!.client_id;
    await send(admin, 'POST', `/clients/${tablet}/merge`, { client_ids: [part] });
    expect(await open()).toMatchObject([{ client_id: tablet, client_name: 'Täblet 📱' }]);
  });

  test('close a request once, even if two users do so at the same time', async () => {
    await ask(TABLET, 'a.example');
    const path = `/unblock-requests/${(await open())[0]!.id}`;
    const answers = await Promise.all([send(admin, 'DELETE', path), send(admin, 'DELETE', path)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404]);
  });
});

test('RequestWatch returns the IDs of the open requests that it last read, until they expire', async () => {
  const watch = new RequestWatch({ database: suite.database, clock });
  expect(watch.ids()).toEqual([]);
  const version = async (): Promise<unknown> =>
    (await suite.database.query(`SELECT version FROM table_versions WHERE name = 'unblock_requests'`)).rows;
  const before = await version();
  await ask(TABLET, 'a.example');
  // This version must change, because all nodes follow it.
  expect(await version()).not.toEqual(before);
  await watch.follow();
  expect(watch.ids()).toEqual((await open()).map(({ id }) => id));
  clock.advanceSecs(24 * HOUR_SECS);
  expect(watch.ids()).toEqual([]);
});
