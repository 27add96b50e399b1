import { describe, expect, test } from '@jest/globals';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { askedBefore, countServers, countsText, placeOf, poolProblem, poolsOf, serversOf } from './pools.ts';
import type { ServerState } from './pools.ts';

function server(address: string, poolName: string, status: ServerState['status'] = 'Healthy'): ServerState {
  return {
    address,
    protocol: 'udp',
    status,
    pool_name: poolName,
    kind: 'pool',
    strategy: 'Parallel',
    latency_ms: null,
    queries: 0,
    failures: 0,
    consecutive_failures: 0,
    last_error: null,
    resolved: [],
    supports: {
      edns: 'unknown',
      cookies: 'unknown',
      case: 'unknown',
      tcp: 'unknown',
      answers_per_connection: null,
    },
    removes_signatures: false,
  };
}

const ONE = server('udp://192.0.2.1', 'default');
const TWO = server('udp://192.0.2.2', 'default', 'Unhealthy');

describe('poolsOf(), the pools shown with their servers,', () => {
  test('groups the servers of one pool, separate from a forward zone with the same name', () => {
    const zone = { ...server('udp://192.0.2.3', 'default'), kind: 'forward_zone' as const };
    expect(poolsOf([ONE, zone, TWO]).map(({ kind, servers }) => [kind, servers.length])).toEqual([
      ['pool', 2],
      ['forward_zone', 1],
    ]);
  });
});

describe('countServers()', () => {
  test('counts a server that is in two pools once', () => {
    expect(countServers([ONE, TWO, { ...TWO, pool_name: 'other' }])).toEqual({
      ...{ total: 2, down: 1, unknown: 0, faltering: 0 },
    });
  });
});

describe('countsText(), the summary of upstream servers,', () => {
  const three = server('udp://192.0.2.3', 'default', 'Unknown');
  const faltering = { ...ONE, consecutive_failures: 1 };
  test.each([
    ['a healthy server', [ONE], 'good', 'resolving.allReply'],
    ['a healthy server and one that was not asked', [ONE, three], 'info', 'resolving.asking'],
    ['no server', [], 'info', 'resolving.asking'],
    ['a server after its first failure', [faltering], 'warning', 'resolving.faltering'],
    ['one server of each status', [ONE, TWO, three], 'warning', 'resolving.down'],
    ['an unhealthy server', [TWO], 'fault', 'resolving.down'],
  ] as const)('returns text and tone for %s', (_, servers, tone, text) =>
    expect(countsText(countServers(servers))).toMatchObject({ tone, text }),
  );
});

describe('serversOf(), the servers entered for a pool,', () => {
  test('are separated by lines, commas and spaces', () => {
    expect(serversOf(' udp://192.0.2.1, 192.0.2.2\n\ntls://dns.example@192.0.2.3 ')).toEqual([
      'udp://192.0.2.1',
      '192.0.2.2',
      'tls://dns.example@192.0.2.3',
    ]);
  });
});

describe('placeOf(), the index of a pool,', () => {
  const pools = ['first', 'second'].map((name) => ({ name, priority: 1, servers: [] }));

  test('is found by name; a new pool is after all others', () => {
    expect([placeOf({ ...pools[1]!, priority: 7 }, pools), placeOf(undefined, pools)]).toEqual([1, 2]);
  });
});

describe('askedBefore(), the pool queried before a new or changed pool,', () => {
  const pools = [
    { name: 'fallback', priority: 2, servers: [] },
    { name: 'default', priority: 1, servers: [] },
  ];

  test('is the pool with the lowest priority, or the earlier of two equal pools', () => {
    expect(askedBefore(1, 2, pools)).toBe('default');
    expect(askedBefore(9, 2, pools)).toBe('default');
  });

  test('is null for the pool that is queried first', () => {
    expect(askedBefore(0, 2, pools)).toBeNull();
    expect(askedBefore(1, 1, pools)).toBeNull();
    expect(askedBefore(1, 0, [])).toBeNull();
  });
});

describe('poolProblem(), the error about a pool,', () => {
  test('returns the error of a field or of its members', () => {
    const faults = [
      { path: 'dns.pools.1.servers.0', message: 'no such scheme' },
      { path: 'dns.pools.10.name', message: 'empty' },
    ];
    const problem = {
      type: '',
      title: '',
      status: 400,
      detail: '',
      error: 'invalid' as const,
      errors: faults,
    };
    const failure = new ApiFailure('PATCH /config', new Response(null, { status: 400 }), problem);
    expect(poolProblem(failure, 1, 'servers')).toBe('no such scheme');
    expect(poolProblem(failure, 1, 'name')).toBeNull();
    expect(poolProblem(new Error('away'), 1, 'servers')).toBeNull();
  });
});
