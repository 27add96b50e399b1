import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { upstreamOf } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { askingOrder, firstPlace, planWaves, Pool, wavesOf } from './pool.ts';
import type { Upstream } from './upstream.ts';

let server: ScriptedUpstream;
let upstreams: Upstream[];
let pools: Pool[];
beforeEach(async () => {
  server = await ScriptedUpstream.start();
  upstreams = [0, 1, 2, 3].map((index) => upstreamOf(server, { index }));
  pools = [
    new Pool('first', 'Failover', 1, upstreams.slice(0, 2)),
    new Pool('second', 'Parallel', 2, upstreams.slice(2)),
  ];
});
afterEach(async () => {
  for (const upstream of upstreams) upstream.close();
  await server.close();
});

const plan = (nowMs = 0): number[][] => planWaves(pools, nowMs).map((wave) => wave.map(({ index }) => index));

function suspect(isProbed: boolean, ...indexes: number[]): void {
  for (const index of indexes) {
    const { health } = upstreams[index]!;
    if (isProbed) health.onSuspect = () => undefined;
    health.recordSilence(300);
  }
}

describe('planWaves(), which orders the servers for a query,', () => {
  test('orders pools by priority, and the servers of each pool by its strategy', () => {
    expect(plan()).toEqual([[0], [1], [2, 3]]);
  });

  test('with health checks, orders suspect servers after all other servers except unhealthy ones', () => {
    suspect(true, 0, 2);
    upstreams[1]!.health.recordFault('timeout');
    expect(plan()).toEqual([[3], [0, 2], [1]]);
  });

  test('without health checks, queries a suspect server once a second, in parallel with the first server', () => {
    suspect(false, 0);
    expect([1000, 1999, 2000].map(plan)).toEqual([
      [
        [1, 0],
        [2, 3],
      ],
      [[1], [2, 3], [0]],
      [
        [1, 0],
        [2, 3],
      ],
    ]);
  });

  test('queries all servers in parallel if all are suspect', () => {
    suspect(true, 0, 1, 2, 3);
    expect(plan()).toEqual([[0, 1, 2, 3]]);
  });
});

function candidate(
  name: string,
  smoothedLatencyMs = 0,
): { name: string; health: { smoothedLatencyMs: number } } {
  return { name, health: { smoothedLatencyMs } };
}

const SERVERS = [candidate('a', 30), candidate('b', 10), candidate('c', 20)];

function named(waves: readonly (readonly { name: string }[])[]): string {
  return waves.map((wave) => wave.map(({ name }) => name).join('+')).join(' ');
}

describe('wavesOf, the groups of servers queried in turn,', () => {
  test.each([
    ['Parallel', 0, 'a+b+c'],
    ['Failover', 0, 'a b c'],
    ['Failover', 1, 'a b c'],
    ['Balanced', 0, 'a b c'],
    ['Balanced', 1, 'b c a'],
    ['Balanced', 5, 'c a b'],
    ['Fastest', 0, 'b c a'],
  ] as const)('returns for %s at turn %d: %s', (strategy, turn, expected) => {
    expect(named(wavesOf(strategy, SERVERS, turn))).toBe(expected);
  });

  test('of Fastest starts with a server without known latency, and sometimes with a slower server', () => {
    expect(named(wavesOf('Fastest', [candidate('a', 5), candidate('new')], 0))).toBe('new a');
    const firsts = new Set(
      Array.from({ length: 64 }, (_, turn) => named(wavesOf('Fastest', SERVERS, turn))[0]),
    );
    expect(firsts).toEqual(new Set(['a', 'b', 'c']));
  });

  test('is empty if there are no servers', () => {
    expect(wavesOf('Balanced', [], 3)).toEqual([]);
  });

  test.each(['Failover', 'Balanced', 'Fastest'] as const)(
    'firstPlace() is the index of the server that wavesOf() queries first for %s',
    (strategy) => {
      const order = askingOrder(strategy, SERVERS);
      for (let turn = 0; turn < 64; turn++)
        expect(order[firstPlace(strategy, order.length, turn)]).toBe(wavesOf(strategy, SERVERS, turn)[0]![0]);
    },
  );
});
