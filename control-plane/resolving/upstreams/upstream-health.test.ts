import { describe, expect, test } from '@jest/globals';
import { NOTHING_KNOWN } from '../../../shared/policy/hardening-settings.ts';
import type { UpstreamReport, UpstreamReports } from '../../../shared/threads/messages.ts';
import { upstreamDetails, upstreamHealth, upstreamLatencies } from './upstream-health.ts';

function report(more: Partial<UpstreamReport> = {}): UpstreamReport {
  return {
    address: 'udp://192.0.2.1',
    transport: 'udp',
    poolName: 'main',
    strategy: 'Parallel',
    status: 'Unknown',
    queries: 0,
    failures: 0,
    consecutiveFailures: 0,
    lastError: null,
    latenciesMs: new Float32Array(0),
    latencyCounts: { counts: [], sumMs: 0 },
    resolved: [],
    supports: NOTHING_KNOWN,
    removesSignatures: false,
    ...more,
  };
}

/** Reports of one worker. */
function worker(pools: UpstreamReport[], zones: UpstreamReport[] = []): UpstreamReports {
  return { pools, zones };
}

describe('upstreamDetails()', () => {
  test('adds up the counts and combines the latencies of all workers', () => {
    const seen = [
      worker([
        report({
          status: 'Healthy',
          queries: 10,
          failures: 1,
          lastError: 'SERVFAIL',
          latenciesMs: Float32Array.of(4, 2),
          resolved: ['192.0.2.1'],
        }),
      ]),
      worker([
        report({
          status: 'Unhealthy',
          queries: 5,
          failures: 5,
          consecutiveFailures: 3,
          lastError: 'timeout',
          latenciesMs: Float32Array.of(6, 8),
          supports: { ...NOTHING_KNOWN, edns: 'supported', case: 'altered', answersPerConnection: 4 },
          resolved: ['192.0.2.1', '2001:db8::1'],
          removesSignatures: true,
        }),
      ]),
    ];
    expect(upstreamDetails(seen)).toEqual([
      {
        address: 'udp://192.0.2.1',
        protocol: 'udp',
        status: 'Healthy',
        pool_name: 'main',
        kind: 'pool',
        strategy: 'Parallel',
        latency_ms: { avg: 5, p50: 6, p95: 8 },
        queries: 15,
        failures: 6,
        consecutive_failures: 3,
        last_error: 'timeout',
        resolved: ['192.0.2.1', '2001:db8::1'],
        supports: {
          ...{ edns: 'supported', cookies: 'unknown', case: 'altered', tcp: 'unknown' },
          answers_per_connection: 4,
        },
        removes_signatures: true,
      },
    ]);
  });

  test('returns an entry for each pool of a server, and no latency before the first answer', () => {
    const seen = [worker([report(), report({ poolName: 'backup' })])];
    const details = upstreamDetails(seen);
    expect(details.map(({ pool_name, latency_ms }) => [pool_name, latency_ms])).toEqual([
      ['main', null],
      ['backup', null],
    ]);
  });
});

describe('upstreamDetails() and upstreamHealth()', () => {
  test('upstreamDetails() distinguishes a forward zone from a pool with the same name and server', () => {
    const poolServer = report({ poolName: 'corp.example.org', status: 'Healthy', queries: 7 });
    const zoneServer = report({ poolName: 'corp.example.org', status: 'Unhealthy', queries: 2 });
    const seen = [worker([poolServer], [zoneServer]), worker([poolServer], [zoneServer])];
    expect(upstreamDetails(seen)).toMatchObject([
      { kind: 'pool', pool_name: 'corp.example.org', status: 'Healthy', queries: 14 },
      { kind: 'forward_zone', pool_name: 'corp.example.org', status: 'Unhealthy', queries: 4 },
    ]);
  });

  test('upstreamHealth() includes servers of forward zones, but prefers the state of the same server in a pool', () => {
    const own = (address: string, status: UpstreamReport['status']): UpstreamReport =>
      report({ address, status, poolName: 'corp.example.org' });
    const zones = [own('udp://192.0.2.1', 'Healthy'), own('udp://192.0.2.53', 'Unhealthy')];
    expect(upstreamHealth([worker([report({ status: 'Unhealthy' })], zones)])).toEqual({
      'udp://192.0.2.1': 'Unhealthy',
      'udp://192.0.2.53': 'Unhealthy',
    });
  });
});

describe('upstreamLatencies()', () => {
  test('adds up the latency buckets of a server in a pool over all workers', () => {
    const counts = (...counts: number[]) => ({ latencyCounts: { counts, sumMs: counts.length } });
    const zone = report({ poolName: 'lan', ...counts(7, 0) });
    expect(
      upstreamLatencies([worker([report(counts(1, 2))], [zone]), worker([report(counts(0, 5))])]),
    ).toEqual([
      { server: { address: 'udp://192.0.2.1', pool_name: 'main', kind: 'pool' }, counts: [1, 7], sumMs: 4 },
      {
        server: { address: 'udp://192.0.2.1', pool_name: 'lan', kind: 'forward_zone' },
        counts: [7, 0],
        sumMs: 2,
      },
    ]);
  });
});

describe('upstreamHealth()', () => {
  test.each<[UpstreamReport['status'][], UpstreamReport['status']]>([
    [['Unhealthy', 'Healthy'], 'Healthy'],
    [['Unhealthy', 'Unknown'], 'Unhealthy'],
    [['Unknown'], 'Unknown'],
  ])('for the states %j is %s', (statuses, expected) => {
    const seen = statuses.map((status) => worker([report({ status })]));
    expect(upstreamHealth(seen)).toEqual({ 'udp://192.0.2.1': expected });
  });
});
