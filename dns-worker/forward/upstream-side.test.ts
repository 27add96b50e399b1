import { describe, expect, test } from '@jest/globals';
import { systemClock as clock } from '../../shared/clock.ts';
import { rootTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { settingsOf } from '../../test/support/parts/running-worker.ts';
import { NodeFlights } from '../resolve/node-flights.ts';
import { UpstreamSide, type UpstreamSideParts } from './upstream-side.ts';

const ZONE: ForwardZone = {
  zone: 'home.arpa',
  names: [],
  partition: 1,
  servers: [{ address: '127.0.0.1:9', transport: 'udp', host: '127.0.0.1', port: 9 }],
  upstreamNumbers: [0x8000],
};

const ANCHORED = { dnssec: { anchors: rootTrustAnchors(), negativeAnchors: [] } };

function settings(change: Partial<WorkerSettings> = {}): WorkerSettings {
  const servers = ZONE.servers;
  const pools = [{ name: 'p', strategy: 'Failover', priority: 1, servers }] as const;
  return structuredClone({ ...settingsOf(53, null), pools, ...change });
}

function open(first = settings(), parts: Partial<UpstreamSideParts> = {}): UpstreamSide {
  const logger = new MemoryLogger();
  return new UpstreamSide(first, {
    clock,
    logger,
    flights: (longestMs) => new NodeFlights(null, longestMs, logger),
    ...parts,
  });
}

describe('UpstreamSide, the upstream part of a resolve thread,', () => {
  test('use() keeps the parts that a settings change does not affect', async () => {
    const side = open(settings(ANCHORED));
    const { resolver, zones, trust } = side;
    side.use(settings({ ...ANCHORED, forwardsEcs: true, tcpMaxConnectionsPerIp: 7 }), []);
    expect(side.resolver).toBe(resolver);
    expect(side.zones).toBe(zones);
    expect(side.trust).toBe(trust);
    await side.close();
  });

  test.each<[string, Partial<WorkerSettings>, boolean]>([
    [
      'other names of pools',
      { pools: [{ name: 'q', strategy: 'Parallel', priority: 1, servers: [] }] },
      true,
    ],
    ['validation', ANCHORED, true],
    ['another time', { queryTimeoutMs: 1234 }, false],
    ['other probes', { healthCheck: { ...settings().healthCheck, timeoutMs: 1234 } }, false],
    ['other resolvers for names', { bootstrap: ['192.0.2.9'] }, false],
    ['other authorities', { extraCa: ['none'] }, false],
  ])('use() replaces the resolver after a change of %s', async (_what, change, keepsZones) => {
    const side = open();
    void side.zones.follow([ZONE]);
    const { resolver, zones } = side;
    side.use(settings(change), [ZONE]);
    expect(side.resolver).not.toBe(resolver);
    expect(side.zones === zones).toBe(keepsZones);
    expect(side.report().pools).toHaveLength(change.pools === undefined ? 1 : 0);
    expect(side.report().zones).toMatchObject([{ poolName: 'home.arpa' }]);
    await side.close();
  });

  test('shares validated zones with threads that have the same pools and trust anchors', async () => {
    const contextOf = async (change: Partial<WorkerSettings>): Promise<string> => {
      const contexts: Uint8Array[] = [];
      const shareCuts = (context: Uint8Array): null => {
        contexts.push(context);
        return null;
      };
      const side = open(settings({ ...ANCHORED, ...change }), { shareCuts });
      await side.close();
      return contexts.map((context) => Buffer.from(context).toString('hex')).join();
    };
    const context = await contextOf({});
    expect(await contextOf({ queryTimeoutMs: 1234 })).toBe(context);
    const pools: WorkerSettings['pools'] = [{ name: 'q', strategy: 'Parallel', priority: 1, servers: [] }];
    const exempt = { ...ANCHORED.dnssec, negativeAnchors: [Uint8Array.of(0)] };
    for (const change of [{ pools }, { dnssec: exempt }]) expect(await contextOf(change)).not.toBe(context);
  });

  test('close() also closes the resolver that use() replaced', async () => {
    const side = open();
    const { resolver } = side;
    side.use(settings({ queryTimeoutMs: 60_000 }), []);
    await side.close();
    const question = { qname: Uint8Array.of(0), qtype: 1, qclass: 1 } as Parameters<
      typeof resolver.resolve
    >[0];
    const resolution = await new Promise((done) => resolver.resolve(question, done));
    expect(resolution).toMatchObject({ kind: 'failed', reason: 'network' });
  });
});
