/**
 * Shared state of nodes other than policy: the certificate, tickets and cookies of clients, the log and its statistics.
 */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ClusterNode as NodeFigures } from '../../../shared/api/nodes-api.ts';
import { TestAuthority, type TestCertificate } from '../../support/dns/certificates.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { DotClient } from '../../support/dns/dot-client.ts';
import { until, within } from '../../support/parts/until.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const SERVER_NAME = 'dns.example.org';
const LOCAL = 'here.home.example';
/** Pause between handshakes, because a client network may make only 60 handshakes per second. */
const HANDSHAKE_PAUSE_MS = 100;
const CLIENT_COOKIE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);

/**
 * Number of queries of each node that are in the log when one node is killed, and number of queries that this node
 * answers just before.
 */
const [STORED, FRESH] = [40, 10];

interface ClusterNode {
  readonly weir: Weir;
  readonly dotPort: number;
  readonly toml: string;
}

let cluster: NodeCluster;
let authority: TestAuthority;
let first: ClusterNode;
let second: ClusterNode;
/** Two nodes with HTTPS. */
let webs: Weir[];

beforeAll(async () => {
  authority = new TestAuthority();
  cluster = await NodeCluster.open();
  const start = async (nodeName: string): Promise<ClusterNode> => {
    const [dotPort, dohPort] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
    const toml = `${encryptedToml({ dot: dotPort, doh: dohPort })}
[dns]
local_records = ["${LOCAL} A 192.0.2.20"]
`;
    return { weir: await cluster.start(nodeName, { toml }), dotPort, toml };
  };
  first = await start('first');
  second = await start('second');
  const toml = `[server.web_tls]
enabled = true
tls_cert_path = "web-cert.pem"
tls_key_path = "web-key.pem"
`;
  webs = [];
  for (const name of ['third', 'fourth']) webs.push(await cluster.start(name, { toml, database: 'later' }));
});
afterAll(async () => {
  await cluster.close();
  authority.close();
});

async function upload({ weir }: ClusterNode, { cert, key }: TestCertificate): Promise<number> {
  const body = new FormData();
  body.set('cert', cert);
  body.set('key', key);
  const { session } = await weir.api();
  const headers = { cookie: `svc_session=${session}` };
  const address = `http://127.0.0.1:${String(weir.webPort)}/api/tls/upload`;
  return (await fetch(address, { method: 'POST', body, headers })).status;
}

describe('two nodes with one database', () => {
  test('a certificate uploaded at one node is served by the other node', async () => {
    const certificate = authority.issue(`DNS:${SERVER_NAME}`);
    expect(await upload(first, certificate)).toBe(200);
    const { fingerprint256 } = new X509Certificate(certificate.cert);
    const served = async (): Promise<string> => {
      const dot = await DotClient.open(second.dotPort, { servername: SERVER_NAME });
      const { fingerprint } = dot;
      dot.close();
      return fingerprint;
    };
    const isUploaded = (fingerprint: string): boolean => fingerprint === fingerprint256;
    await until('the uploaded certificate at the other node', served, isUploaded, {
      pauseMs: HANDSHAKE_PAUSE_MS,
    });
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a DNS-over-TLS session of %s started at one node is resumed at the other node',
    async (version) => {
      const options = {
        ...{ ca: authority.cert, servername: SERVER_NAME },
        ...{ maxVersion: version, minVersion: version },
      };
      const isResumed = async (): Promise<boolean> => {
        const begun = await DotClient.open(first.dotPort, options);
        let session: Buffer | undefined;
        begun.socket.on('session', (given: Buffer) => (session = given));
        await begun.ask(LOCAL, 'A');
        session ??= begun.socket.getSession();
        const other = await DotClient.open(second.dotPort, { ...options, session });
        const { data } = await other.ask(LOCAL, 'A');
        expect(data).toEqual(['192.0.2.20']);
        const isReused = other.socket.isSessionReused();
        for (const dot of [begun, other]) dot.close();
        return isReused;
      };
      // A joining node already answers queries before it knows the shared secret.
      await until(`a resumed session of ${version}`, isResumed, Boolean, { pauseMs: HANDSHAKE_PAUSE_MS });
    },
  );

  test('a server cookie from one node proves the address of the client to the other node', async () => {
    const [atFirst, atSecond] = [
      await UdpClient.open(first.weir.dnsPort),
      await UdpClient.open(second.weir.dnsPort),
    ];
    const exchange = async (): Promise<{ given: Buffer; returned: Buffer }> => {
      const given = (await atFirst.ask(LOCAL, 'A', { edns: { cookie: CLIENT_COOKIE } })).cookie!;
      // A server returns an accepted cookie unchanged, and replaces any other cookie.
      const { cookie } = await atSecond.ask(LOCAL, 'A', { edns: { cookie: given } });
      return { given: Buffer.from(given), returned: Buffer.from(cookie!) };
    };
    await until('a cookie of one node to be taken by the other', exchange, ({ given, returned }) =>
      given.equals(returned),
    );
    for (const client of [atFirst, atSecond]) client.close();
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a web session of %s started at one node is resumed at the other node',
    async (version) => {
      const isResumed = async (): Promise<boolean> => {
        const [begun, other] = webs as [Weir, Weir];
        const session = await begin(begun, version);
        const resumed = await handshake(other, version, session);
        const isReused = resumed.isSessionReused();
        resumed.destroy();
        return isReused;
      };
      await until(`a resumed session of ${version} with the web`, isResumed, Boolean, {
        pauseMs: HANDSHAKE_PAUSE_MS,
      });
    },
  );

  test('the log loses only the newest queries of a killed node, and no query of the other node', async () => {
    const api = await first.weir.api();
    const logged = (node: string): string => `domain=.killed.example&node=${node}`;
    const ask = async ({ weir }: ClusterNode, count: number): Promise<void> => {
      using udp = await UdpClient.open(weir.dnsPort);
      await udp.askAll(
        Array.from({ length: count }, (_, at) => ({ name: `n${at}.killed.example`, type: 'A' as const })),
      );
    };
    await Promise.all([ask(first, STORED), ask(second, STORED)]);
    for (const node of ['first', 'second']) await api.untilQueryCount(STORED, logged(node));
    await ask(second, FRESH);
    await second.weir.end('SIGKILL');
    await cluster.start('second', { toml: second.toml });
    const kept = await api.queryCount(logged('second'));
    expect(kept).toBeGreaterThanOrEqual(STORED);
    expect(await api.queryCount(logged('first'))).toBe(STORED);
    const nodes = await api.expect<NodeFigures[]>(200, 'GET', '/nodes');
    const missing = nodes.find(({ node }) => node === 'second')!.rows_missing;
    expect(kept + missing).toBeLessThanOrEqual(STORED + FRESH);
    expect((await api.stats()).queries_total).toBe(await api.queryCount('period=1h'));
  });
});

async function handshake(
  { webPort: port }: Weir,
  version: 'TLSv1.2' | 'TLSv1.3',
  session?: Buffer,
): Promise<TLSSocket> {
  const versions = { minVersion: version, maxVersion: version };
  const socket = connect({ ...versions, port, host: '127.0.0.1', rejectUnauthorized: false, session });
  await within('a TLS handshake', once(socket, 'secureConnect'));
  return socket;
}

/** Starts a TLS session at a node. */
async function begin(node: Weir, version: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  const socket = await handshake(node, version);
  // With TLS 1.3 the tickets arrive after the handshake.
  if (version === 'TLSv1.3') await within('a session ticket', once(socket.resume(), 'session'));
  const session = socket.getSession()!;
  socket.destroy();
  return session;
}
