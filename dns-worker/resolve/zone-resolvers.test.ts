import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { RRType } from '../../shared/dns/iana.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import { a, idOf, question, questionOf, response } from '../../test/support/dns/built-messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../test/support/parts/until.ts';
import type { Resolution } from './resolver.ts';
import { ZoneResolvers } from './zone-resolvers.ts';

const healthCheck = {
  enabled: false,
  intervalSecs: 30,
  timeoutMs: 2000,
  failureThreshold: 3,
  successThreshold: 2,
};

function zoneOf({ ip, port }: ScriptedUpstream, partition: number): ForwardZone {
  const server = { address: `tcp://${ip}:${port}`, transport: 'tcp', host: ip, port } as const;
  const names = [nameFromText('example.org')!];
  return { zone: 'example.org', names, partition, servers: [server], upstreamNumbers: [0x8000] };
}

describe('ZoneResolvers, the resolvers of forward zones,', () => {
  test('follow() closes the connections of a removed zone and fails its queries', async () => {
    await using server = await ScriptedUpstream.start();
    server.tcpScript = (query, index) => {
      const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
      if (index === 0) query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
    };
    const opened = new Promise<Socket>((resolve) => {
      server.onConnection = resolve;
    });
    const zones = new ZoneResolvers(
      { queryTimeoutMs: 3000, bootstrap: [], healthCheck },
      systemClock,
      new MemoryLogger(),
    );
    const zone = zoneOf(server, 1);
    const ask = (name: string): Promise<Resolution> =>
      within('the resolution', new Promise((done) => zones.of(zone).resolve(question(name, 'A'), done)));
    expect((await ask('a.example.org')).kind).toBe('answer');
    const closed = once(await within('the connection', opened), 'close');
    const waiting = ask('b.example.org');
    await zones.follow([zoneOf(server, 1)]);
    expect((await opened).destroyed).toBe(false);
    await zones.follow([zoneOf(server, 2)]);
    expect(await waiting).toMatchObject({ kind: 'failed', reason: 'network' });
    await within('the connection to close', closed);
    await zones.close();
  });

  test('follow() probes zone servers with a SOA query before any client query, and report() includes them', async () => {
    await using server = await ScriptedUpstream.start();
    const SERVFAIL = 0x8182;
    let flags = SERVFAIL;
    server.tcpScript = (query) =>
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags }));
    const zones = new ZoneResolvers(
      {
        queryTimeoutMs: 3000,
        bootstrap: [],
        healthCheck: { ...healthCheck, enabled: true, intervalSecs: 0.01, failureThreshold: 2 },
      },
      systemClock,
      new MemoryLogger(),
    );
    const untilReported = (status: string): Promise<unknown> =>
      until(
        `the server to be ${status}`,
        () => zones.report(),
        ([first]) => first?.status === status,
      );
    const zone = zoneOf(server, 1);
    await zones.follow([zone, zone]);
    expect(zones.report()).toMatchObject([
      { address: zone.servers[0]!.address, poolName: 'example.org', strategy: 'Parallel', status: 'Unknown' },
    ]);
    await untilReported('Unhealthy');
    flags = 0x8583; // From now on, the server answers NXDOMAIN.
    await untilReported('Healthy');
    expect(zones.report()).toMatchObject([{ queries: 0, failures: 0, lastError: 'SERVFAIL to a probe' }]);
    const asked = server.tcpQueries.map(({ bytes }) => questionOf(bytes));
    expect(new Set(asked.map(({ qtype }) => qtype))).toEqual(new Set([RRType.SOA]));
    expect(Buffer.from(asked[0]!.qname)).toEqual(Buffer.from(zone.names[0]!));
    await zones.follow([]);
    expect(zones.report()).toEqual([]);
  });
});
