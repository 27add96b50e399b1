/**
 * Clients that identify themselves by a key in the TLS server name or in the path of DNS over HTTPS.
 *
 * @needs curl knot-dnsutils
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { Client, ClientStats } from '../../../shared/api/policy/clients-api.ts';
import type { Simulation } from '../../../shared/api/policy/simulate-api.ts';
import type { TopClients } from '../../../shared/api/stats-api.ts';
import { TestAuthority } from '../../support/dns/certificates.ts';
import { query, Reply } from '../../support/dns/dns-message.ts';
import { DohClient } from '../../support/dns/doh-client.ts';
import { DotClient } from '../../support/dns/dot-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { until, within } from '../../support/parts/until.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { isAnswered } from '../../support/weir/socket-ends.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const run = promisify(execFile);
const SERVER_NAME = 'dns.example.org';
const BLOCKED = '0.0.0.0';

let weir: Weir;
let api: ApiClient;
let upstream: ScriptedUpstream;
let authority: TestAuthority;
let caPath: string;
let ports: { dot: number; doh: number };
let kids: number;
let work: number;
let phone: Client;
let laptop: Client;

beforeAll(async () => {
  authority = new TestAuthority();
  const { certPath, keyPath } = authority.issue(`DNS:${SERVER_NAME},DNS:*.${SERVER_NAME}`);
  caPath = join(authority.folder, 'ca.pem');
  upstream = await startEchoingUpstream();
  ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
  weir = await Weir.start({
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    toml: encryptedToml(ports, { certPath, keyPath }),
  });
  api = await weir.api();
  kids = (await api.createGroup('kids')).id;
  work = (await api.createGroup('work')).id;
  for (const [domain, group_id] of [
    ['games.example', kids],
    ['news.example', work],
  ] as const)
    await api.expect(201, 'POST', '/managed-domains', { domain, action: 'deny', group_id });
  phone = await api.expect(201, 'POST', '/clients', { client_key: 'Phone', name: 'Anna', group_id: kids });
  laptop = await api.expect(201, 'POST', '/clients', { client_key: 'laptop' });
  // All clients of this test share an address, and the address also has a group.
  await api.expect(201, 'POST', '/clients', { ip_address: '127.0.0.1', group_id: work });
});
afterAll(async () => {
  expect(await weir.stop()).toMatchObject({ code: 0 });
  await upstream.close();
  authority.close();
});

/** Data of a client's answers for a game and for news, queried with this key; '' = no key. */
async function overTls(key: string, options: ConnectionOptions = {}): Promise<unknown[]> {
  const servername = key === '' ? SERVER_NAME : `${key}.${SERVER_NAME}`;
  const dot = await DotClient.open(ports.dot, { ca: authority.cert, servername, ...options });
  const data = await bothOf(dot);
  dot.close();
  return data;
}

async function bothOf(dot: DotClient): Promise<unknown[]> {
  return [(await dot.ask('games.example', 'A')).data[0], (await dot.ask('news.example', 'A')).data[0]];
}

/** URL path of a query for a game; `key` = the path segment with the client's key, or ''. */
function pathOf(key: string): string {
  const encoded = Buffer.from(query('games.example', 'A', { id: 0 })).toString('base64url');
  return `/dns-query${key}?dns=${encoded}`;
}

const AS_KIDS = [BLOCKED, EVERY_ADDRESS];
const AS_WORK = [EVERY_ADDRESS, BLOCKED];

describe('weir with clients that have keys', () => {
  test('over TLS applies the group of the key in the server name that kdig sends', async () => {
    const blockedFor = async (name: string): Promise<boolean> => {
      const { stdout } = await run('kdig', [
        ...['@127.0.0.1', '-p', String(ports.dot), '+short', 'games.example', 'A'],
        ...[`+tls-ca=${caPath}`, `+tls-host=${name}`],
      ]);
      return stdout.trim() === BLOCKED;
    };
    expect(await blockedFor(`phone.${SERVER_NAME}`)).toBe(true);
    expect(await blockedFor(`PHONE.${SERVER_NAME}`)).toBe(true);
    expect(await blockedFor(SERVER_NAME)).toBe(false);
    expect(await blockedFor(`other.${SERVER_NAME}`)).toBe(false);
  });

  test('prefers the group of a key to that of the address; without a known key with a group, the address decides', async () => {
    expect(await overTls('phone')).toEqual(AS_KIDS);
    expect(await overTls('laptop')).toEqual(AS_WORK);
    expect(await overTls('unknown')).toEqual(AS_WORK);
    expect(await overTls('')).toEqual(AS_WORK);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'over %s identifies clients by the server name, not by a session ticket for a different name',
    async (version) => {
      const options = { maxVersion: version, minVersion: version };
      const servername = `phone.${SERVER_NAME}`;
      const first = await DotClient.open(ports.dot, { ca: authority.cert, servername, ...options });
      let session: Buffer | undefined;
      first.socket.on('session', (given: Buffer) => (session = given));
      expect(await bothOf(first)).toEqual(AS_KIDS);
      session ??= first.socket.getSession();
      const again = await DotClient.open(ports.dot, { ca: authority.cert, servername, ...options, session });
      expect([again.socket.isSessionReused(), await bothOf(again)]).toEqual([true, AS_KIDS]);
      for (const dot of [first, again]) dot.close();
      expect(await overTls('laptop', { ...options, session })).toEqual(AS_WORK);
    },
  );

  test.each(['--http2', '--http1.1'])(
    'over HTTPS gives curl %s the group of the key in the path',
    async (version) => {
      const answerTo = async (origin: string, key: string): Promise<unknown> => {
        const args = ['-sSk', version, `${origin}${pathOf(key)}`];
        const { stdout } = await run('curl', args, { encoding: 'buffer' });
        return new Reply(new Uint8Array(stdout), '').data[0];
      };
      // The HTTPS port of the DNS threads, and the web port, which relays queries.
      for (const origin of [`https://127.0.0.1:${ports.doh}`, `http://127.0.0.1:${weir.webPort}`]) {
        expect(await answerTo(origin, '/phone')).toBe(BLOCKED);
        expect(await answerTo(origin, '/PHONE')).toBe(BLOCKED);
        for (const key of ['', '/', '/laptop', '/other'])
          expect([key, await answerTo(origin, key)]).toEqual([key, EVERY_ADDRESS]);
      }
    },
  );

  test('assigns each request of an HTTP/2 connection to the client of its path', async () => {
    const doh = new DohClient(ports.doh, authority.cert, SERVER_NAME);
    const paths = ['/phone', '', '/laptop', '/phone'].map((key) => ({ ':path': pathOf(key) }));
    const replies = await Promise.all(paths.map((path) => doh.request(path)));
    const data = replies.map(({ body }) => new Reply(new Uint8Array(body), '').data[0]);
    expect(data).toEqual([BLOCKED, EVERY_ADDRESS, EVERY_ADDRESS, BLOCKED]);
    doh.close();
  });

  test('explains the decision for a client key, even for a key that no client has', async () => {
    const explained = async (key: string) => {
      const path = `/explain?domain=games.example&client=127.0.0.1&client_key=${key}`;
      const { group_id, status, stages } = await api.expect<ExplainAnswer>(200, 'GET', path);
      return [group_id, status, stages.find(({ stage }) => stage === 'client_group')!.detail];
    };
    expect(await explained('Phone')).toEqual([kids, 'BLOCKED_MANAGED', 'key phone']);
    const byAddress = [work, 'CACHED', expect.stringMatching(/^manual 127\.0\.0\.1 \(.* (laptop|other)\)$/)];
    expect([await explained('laptop'), await explained('other')]).toEqual([byAddress, byAddress]);
  });

  test('logs the address of a client with a key, and shows and counts the client by its name', async () => {
    const dot = await DotClient.open(ports.dot, { servername: `phone.${SERVER_NAME}` });
    for (const name of ['games.example', 'a.logged.example', 'b.logged.example']) await dot.ask(name, 'A');
    dot.close();
    const doh = new DohClient(ports.doh, authority.cert, SERVER_NAME);
    await doh.post(query('c.logged.example', 'A', { id: 0 }), { ':path': '/dns-query/phone' });
    await doh.post(query('d.logged.example', 'A', { id: 0 }));
    doh.close();
    await api.untilQueryCount(4, 'domain=logged.example');
    const rows = await api.queries('domain=logged.example');
    const shown = rows.map(({ domain, client, client_hostname: name, client_id: id, group_id: group }) => [
      ...[domain, client, id === null ? null : name, id, group],
    ]);
    const keyed = ['127.0.0.1', 'Anna', phone.id, kids];
    expect(shown.toSorted()).toEqual([
      ['a.logged.example', ...keyed],
      ['b.logged.example', ...keyed],
      ['c.logged.example', ...keyed],
      ['d.logged.example', '127.0.0.1', null, null, work],
    ]);
    // Compares with all queries of the log, which may include host names that Weir itself looks up.
    const { top } = await until(
      'the statistics of clients to have all queries of the log',
      async () => ({
        all: await api.queryCount(),
        top: await api.expect<TopClients>(200, 'GET', '/stats/top_clients?period=1h'),
      }),
      (seen) => seen.top.reduce((sum, { count }) => sum + count, 0) === seen.all,
    );
    const counted = top.find(({ client_id: id }) => id === phone.id)!;
    expect(counted).toMatchObject({ ip: '127.0.0.1', hostname: 'Anna' });
    expect(counted.blocked).toBeGreaterThan(0);
    const [first] = await api
      .expect<ClientStats[]>(200, 'GET', '/clients/stats?period=1h&limit=1000')
      .then((stats) => stats.filter(({ id }) => id === phone.id));
    expect(first).toMatchObject({
      name: 'Anna',
      queries_total: counted.count,
      queries_blocked: counted.blocked,
    });
    const blocked = (await api.queries('domain=games.example&status=BLOCKED_MANAGED')).find(
      ({ client_id: id }) => id === phone.id,
    )!;
    const explained = await api.expect<ExplainAnswer>(200, 'GET', `/explain?query_id=${blocked.id}`);
    expect(explained).toMatchObject({ group_id: kids, status: 'BLOCKED_MANAGED' });
    await until(
      `${counted.count} queries at the client`,
      () => api.expect<Client>(200, 'GET', `/clients/${phone.id}`),
      ({ query_count: count, last_seen: seen }) => count >= counted.count && seen !== null,
    );
  });

  test('simulates the queries of a client with a key under the policy of its group', async () => {
    const draft = {
      managed_domains: { add: [{ domain: 'a.logged.example', action: 'deny', group_id: kids }] },
    };
    const { newly_blocked: blocked, clients } = await api.expect<Simulation>(200, 'POST', '/simulate', {
      ...draft,
      period: '1h',
    });
    expect([blocked, clients]).toMatchObject([{ queries: 1, clients: 1 }, [{ hostname: 'Anna' }]]);
  });

  test('applies policy changes to open connections', async () => {
    const servername = `laptop.${SERVER_NAME}`;
    const dot = await DotClient.open(ports.dot, { ca: authority.cert, servername });
    expect(await bothOf(dot)).toEqual(AS_WORK);
    await api.expect(200, 'PUT', `/clients/${laptop.id}/group`, { group_id: kids });
    expect(await bothOf(dot)).toEqual(AS_KIDS);
    const grant = { client_id: laptop.id, domain: 'games.example', secs: 600 };
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/grants', grant);
    expect(await bothOf(dot)).toEqual([EVERY_ADDRESS, EVERY_ADDRESS]);
    // Another client with the same address is not affected.
    expect(await overTls('phone')).toEqual(AS_KIDS);
    await api.expect(204, 'DELETE', `/grants/${id}`);
    await api.expect(200, 'PATCH', `/clients/${laptop.id}`, { client_key: 'tablet' });
    expect([await bothOf(dot), await overTls('tablet')]).toEqual([AS_WORK, AS_KIDS]);
    await api.expect(200, 'PATCH', `/clients/${laptop.id}`, { client_key: 'laptop' });
    expect(await bothOf(dot)).toEqual(AS_KIDS);
    await api.expect(200, 'PUT', `/clients/${laptop.id}/group`, { group_id: null });
    expect(await bothOf(dot)).toEqual(AS_WORK);
    dot.close();
  });

  test.each([
    '',
    `phone.${SERVER_NAME}.evil.example`,
    `a.phone.${SERVER_NAME}`,
    'phone.example.net',
    `pho_ne.${SERVER_NAME}`,
    `${'phone'.repeat(13)}.${SERVER_NAME}`,
    'phone.'.repeat(42),
  ])('reads no client key from the server name %j', async (name) => {
    const dot = await DotClient.open(ports.dot, { servername: name });
    expect(await bothOf(dot)).toEqual(AS_WORK);
    dot.close();
  });

  test('survives a TLS server name with invalid bytes', async () => {
    const hello = await clientHello(`phone.${SERVER_NAME}`);
    const at = hello.indexOf(`phone.${SERVER_NAME}`);
    for (const octet of [0x00, 0x0a, 0x2e, 0x80, 0xff]) {
      const socket = connect({ port: ports.dot, host: '127.0.0.1' });
      const hostile = Buffer.from(hello);
      hostile.fill(octet, at + 1, at + 5);
      socket.write(hostile);
      await isAnswered(socket);
      socket.destroy();
    }
    expect(await overTls('phone')).toEqual(AS_KIDS);
  });

  test('rejects other URL paths over both versions of HTTP and on the web port', async () => {
    const paths = [
      ['/%70hone', 404],
      ['/phone/', 404],
      ['/phone/phone', 404],
      ['//phone', 404],
      ['/../phone', 404],
      ['/phone%00', 404],
      ['/pho_ne', 404],
      [`/${'k'.repeat(64)}`, 404],
      [`/${'k'.repeat(6000)}`, 404],
      ['/phone?dns=AAAA&', 400],
    ] as const;
    for (const origin of [`https://127.0.0.1:${ports.doh}`, `http://127.0.0.1:${weir.webPort}`])
      for (const version of ['--http2', '--http1.1']) {
        const urls = paths.map(([key]) => origin + pathOf(key).replace('&?', '&'));
        const status = ['-sSk', version, '--path-as-is', '-o', '/dev/null', '-w', '%{http_code} '];
        const { stdout } = await run(
          'curl',
          urls.flatMap((url, n) => (n === 0 ? [...status, url] : ['--next', ...status, url])),
        );
        expect([origin, version, stdout.trim()]).toEqual([
          origin,
          version,
          paths.map(([, code]) => code).join(' '),
        ]);
      }
    expect(await overTls('phone')).toEqual(AS_KIDS);
  });
});

/** The first bytes from a client. */
async function clientHello(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connectTls({ port, host: '127.0.0.1', servername });
  client.on('error', () => undefined);
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const [socket] = await within('a connection of the client', connected);
  const firstBytes = once(socket, 'data') as Promise<[Buffer]>;
  const [hello] = await within('the first bytes of the client', firstBytes);
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}
