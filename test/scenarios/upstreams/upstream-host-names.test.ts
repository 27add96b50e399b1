/**
 * Upstreams that are configured by host name. Their bootstrap server answers like a small router, or initially like a
 * captive portal.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import { pool } from '../../support/dns/asked-resolver.ts';
import {
  a,
  cname,
  idOf,
  questionOf,
  response,
  soa,
  type TestResponse,
} from '../../support/dns/built-messages.ts';
import { TestAuthority, type TestCertificate } from '../../support/dns/certificates.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { answers } from '../../support/dns/scripted-server.ts';
import { ScriptedUpstream, type Script } from '../../support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';
import { until } from '../../support/parts/until.ts';

const HOST = 'dns.example';
const TRUNCATED = 0x8380;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function scripted(script: Script): Promise<ScriptedUpstream> {
  const started = await ScriptedUpstream.start();
  started.udpScript = script;
  closers.push(() => started.close());
  return started;
}

/** A script that answers with the records for the name in lower case. */
function knows(recordsOf: (name: string) => TestResponse): Script {
  return (query) => {
    const asked = questionOf(query.bytes);
    const records = recordsOf(nameToText(asked.qname).toLowerCase());
    // The names have only IPv4 addresses.
    const parts = asked.qtype === RRType.A ? records : { authorities: [soa('example', 300, 300)] };
    query.reply(response(asked, { id: idOf(query.bytes), ...parts }));
  };
}

async function workerOf(
  server: Pick<UpstreamSettings, 'transport' | 'port'>,
  bootstrap: ScriptedUpstream,
  extraCa: readonly string[] = [],
): Promise<UdpClient> {
  const servers = [{ ...server, host: HOST, address: `${server.transport}://${HOST}` }];
  const worker = await RunningWorker.start(snapshotOf([], {}, 1), {
    settings: {
      pools: [pool('Failover', servers)],
      bootstrap: [`127.0.0.1:${String(bootstrap.port)}`],
      extraCa: [...extraCa],
    },
  });
  closers.push(() => worker[Symbol.asyncDispose]());
  const client = await UdpClient.open(worker.port);
  closers.push(() => client.close());
  return client;
}

describe('an upstream configured by host name', () => {
  test('is resolved if the bootstrap server truncates its answer over UDP and sends it over TCP', async () => {
    const upstream = await scripted(answers(7));
    const bootstrap = await scripted((query) =>
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags: TRUNCATED })),
    );
    bootstrap.tcpScript = knows((name) => ({ answers: [a(name, '127.0.0.1')] }));
    const client = await workerOf({ transport: 'udp', port: upstream.port }, bootstrap);
    expect((await client.ask('www.example', 'A')).data).toEqual(['192.0.2.7']);
  });

  test('is resolved if the bootstrap server answers with an alias without its target', async () => {
    const upstream = await scripted(answers(7));
    const bootstrap = await scripted(
      knows((name) => ({
        answers: name === HOST ? [cname(HOST, 'edge.example')] : [a(name, '127.0.0.1')],
      })),
    );
    const client = await workerOf({ transport: 'udp', port: upstream.port }, bootstrap);
    expect((await client.ask('www.example', 'A')).data).toEqual(['192.0.2.7']);
  });
});

describe('a TLS upstream whose host name first resolves to the address of a captive portal', () => {
  let authority: TestAuthority;
  beforeAll(() => {
    authority = new TestAuthority();
  });
  afterAll(() => authority.close());

  /** Answers every question with 192.0.2.7. */
  async function serveTls({ cert, key }: TestCertificate, ip: string, port = 0): Promise<number> {
    const server: Server = createServer({ cert, key }, (socket) => {
      const frames = new FrameReader((message) => {
        const asked = questionOf(message);
        const records = [a(nameToText(asked.qname), '192.0.2.7')];
        socket.write(frame(response(asked, { id: idOf(message), answers: records })));
        return true;
      });
      socket.on('data', (chunk: Buffer) => frames.push(chunk)).on('error', () => undefined);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(port, ip);
    await once(server, 'listening');
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  test("is resolved again after 10 s, regardless of the TTL of the portal's address", async () => {
    const port = await serveTls(authority.issue(`DNS:${HOST}`), '127.0.0.1');
    await serveTls(authority.issue('DNS:portal.example'), '127.0.0.2', port);
    let ip = '127.0.0.2';
    const bootstrap = await scripted(knows((name) => ({ answers: [a(name, ip, 3600)] })));
    const client = await workerOf({ transport: 'tls', port }, bootstrap, [authority.cert]);
    let asked = 0;
    const ask = async (): Promise<unknown[]> => (await client.ask(`n${String(asked++)}.example`, 'A')).data;
    expect(await ask()).toEqual([]);
    ip = '127.0.0.1';
    const data = await until('an answer', ask, ([address]) => address !== undefined, { pauseMs: 200 });
    expect(data).toEqual(['192.0.2.7']);
    // One query each for A and AAAA, each at two times: the failures in between caused no lookup.
    expect(bootstrap.udpQuestions).toHaveLength(4);
  });
});
