/**
 * Weir behind a real HAProxy and a real dnsdist that send PROXY headers: log, group, limit and web server use the
 * client's address.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Session } from '../../../shared/api/auth-api.ts';
import { frame } from '../../../shared/dns/framing.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { query } from '../../support/dns/dns-message.ts';
import { DotClient } from '../../support/dns/dot-client.ts';
import { until, within } from '../../support/parts/until.ts';
import { PASSWORD } from '../../support/weir/api-client.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { BALANCER, startDnsdist, startHaproxy } from '../../support/weir/load-balancers.ts';
import type { Haproxy, LoadBalancer } from '../../support/weir/load-balancers.ts';
import { closeOf, isAnswered } from '../../support/weir/socket-ends.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** A client in a group that may resolve a name, and a client outside this group. */
const GAMER = '127.0.0.77';
const OTHER = '127.0.0.78';
const LIMIT = 2;
/** Servers of HAProxy with separate probes. */
const PROBED = ['dns/a', 'dns/b', 'web/a', 'web/b'];

/** Stops all started parts, also when the set-up fails half-way. */
const stack = new AsyncDisposableStack();
let weir: Weir;
let api: ApiClient;
let dnsdist: LoadBalancer;
let haproxy: Haproxy;
const port = { tcp: 0, dot: 0, doh: 0, web: 0 };

beforeAll(async () => {
  const [dot, doh] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
  weir = await Weir.start({
    env: {
      WEIR_SERVER_PROXY_PROTOCOL_ENABLED: 'true',
      WEIR_SERVER_PROXY_PROTOCOL_TRUSTED: `["${BALANCER}"]`,
      WEIR_SERVER_WORKERS: '1',
    },
    toml: `[server.encrypted_dns]
dot_enabled = true
dot_port = ${dot}
doh_enabled = true
doh_port = ${doh}
tls_cert_path = "certificate.pem"
tls_key_path = "key.pem"
[dns]
local_records = ["here.home.example A 192.0.2.20", "*.other.example A 192.0.2.21", "health.weir.home.arpa A 192.0.2.1"]
health_check_names = ["health.weir.home.arpa"]
[dns.rate_limit]
tcp_max_connections_per_ip = ${LIMIT}
`,
  });
  stack.use(weir);
  haproxy = await startHaproxy([weir.dnsPort, dot, doh, weir.webPort]);
  [port.tcp, port.dot, port.doh, port.web] = haproxy.ports as [number, number, number, number];
  stack.defer(() => haproxy.stop());
  // Until Weir is ready, HAProxy treats it as down.
  await until(
    'servers of HAProxy that are up by their probes',
    () => haproxy.states(),
    (states) => PROBED.every((server) => states[server] === 'UP L7OK'),
    { pauseMs: 100 },
  );
  dnsdist = await startDnsdist(weir.dnsPort);
  stack.defer(() => dnsdist.stop());
  api = await weir.api();
  const { id } = await api.expect<{ id: number }>(201, 'POST', '/groups', { name: 'gamers' });
  await api.expect(201, 'POST', '/client-subnets', { subnet_cidr: `${GAMER}/32`, group_id: id });
  await api.expect(201, 'POST', '/managed-domains', { domain: 'game.example', action: 'deny' });
  await api.expect(201, 'POST', '/grants', { domain: 'game.example', group_id: id, secs: 3600 });
});
afterAll(() => stack.disposeAsync());

/** A connection from an address, once HAProxy listens. */
async function from(address: string, to: number): Promise<Socket> {
  const open = (): Promise<Socket | null> => {
    const socket = connect({ port: to, host: '127.0.0.1', localAddress: address });
    socket.on('error', () => undefined);
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(socket)).once('close', () => resolve(null));
    });
  };
  return (await until(`a connection to port ${to}`, open))!;
}

/** Clients in the log for a name, once the log has this many queries. */
async function clientsOf(domain: string, queries = 1): Promise<string[]> {
  await api.untilQueryCount(queries, `domain=${domain}`);
  return (await api.queries(`domain=${domain}`)).map(({ client }) => client);
}

describe('weir behind load balancers', () => {
  test('answers the health checks of HAProxy over DNS, and over HTTP without a Host header', async () => {
    const states = await haproxy.states();
    expect(PROBED.map((server) => states[server])).toEqual(PROBED.map(() => 'UP L7OK'));
  });

  test('identifies the client behind HAProxy over TCP, TLS and HTTPS', async () => {
    const tcp = await from(OTHER, port.tcp);
    tcp.write(frame(query('tcp.other.example', 'A')));
    await within('an answer over TCP', once(tcp, 'data'));
    tcp.destroy();
    const dot = await DotClient.open(0, {}, await from(OTHER, port.dot));
    await dot.ask('dot.other.example', 'A');
    dot.close();
    const doh = await DotClient.open(0, { ALPNProtocols: ['http/1.1'] }, await from(OTHER, port.doh));
    const message = Buffer.from(query('doh.other.example', 'A')).toString('base64url');
    doh.socket.write(`GET /dns-query?dns=${message} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(await clientsOf('doh.other.example')).toEqual([OTHER]);
    doh.close();
    for (const way of ['tcp', 'dot']) expect(await clientsOf(`${way}.other.example`)).toEqual([OTHER]);
  });

  test('records the address of the client behind HAProxy for a login on the web server', async () => {
    const json = JSON.stringify({ username: 'admin', password: PASSWORD });
    const web = await from(OTHER, port.web);
    const head = [
      'POST /api/auth/login HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'User-Agent: proxied',
      `Content-Length: ${json.length}`,
      'Connection: close',
    ].join('\r\n');
    web.write(`${head}\r\n\r\n${json}`);
    expect(await text(web)).toMatch(/^HTTP\/1\.1 200 /);
    const sessions = await api.expect<Session[]>(200, 'GET', '/auth/sessions');
    const addresses = sessions.map(({ ip_address: address, user_agent: agent }) => [agent, address]);
    expect(addresses).toContainEqual(['proxied', OTHER]);
  });

  test('identifies the client of a datagram from dnsdist, and applies the policy of its group', async () => {
    for (const [address, expected] of [
      [GAMER, []],
      [OTHER, ['0.0.0.0']],
    ] as const) {
      const udp = await UdpClient.open(dnsdist.ports[0]!, '127.0.0.1', address);
      const reply = await udp.ask('game.example', 'A');
      expect(reply.data).toEqual(expected);
      udp.close();
    }
    expect(new Set(await clientsOf('game.example', 2))).toEqual(new Set([GAMER, OTHER]));
  });

  test('limits the connections of each client, not of the load balancer', async () => {
    const open = await Promise.all(Array.from({ length: 2 * LIMIT }, () => from(GAMER, port.tcp)));
    const states = await Promise.all(
      open.map(async (socket) => {
        socket.write(frame(query('here.home.example', 'A')));
        return isAnswered(socket);
      }),
    );
    expect(states.filter((answered) => answered)).toHaveLength(LIMIT);
    for (const socket of open) socket.destroy();
  });

  test('ignores a PROXY header of a client that connects directly, over TCP and UDP', async () => {
    const header = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000263c633640112340035', 'hex');
    const forger = await from(OTHER, weir.dnsPort);
    forger.resume();
    forger.write(Buffer.concat([header, frame(query('forged.example', 'A'))]));
    await closeOf(forger);
    const udp = createSocket('udp4');
    udp.bind(0, OTHER);
    await once(udp, 'listening');
    udp.send(Buffer.concat([header, query('forged.example', 'A')]), weir.dnsPort, '127.0.0.1');
    await within('the reply to a forged header', once(udp, 'message'));
    udp.close();
    const direct = await UdpClient.open(weir.dnsPort, '127.0.0.1', OTHER);
    await direct.ask('direct.example', 'A');
    direct.close();
    expect(await clientsOf('direct.example')).toEqual([OTHER]);
    expect(await api.queryCount('domain=forged.example')).toBe(0);
  });
});
