import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { upstreamOf } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { planWaves, Pool } from './pool.ts';
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

describe('planWaves()', () => {
  test('has pools by priority, each by its strategy', () => {
    expect(plan()).toEqual([[0], [1], [2, 3]]);
  });

  test('has suspect servers that are probed after all others, before unhealthy ones', () => {
    suspect(true, 0, 2);
    upstreams[1]!.health.recordFault('timeout');
    expect(plan()).toEqual([[3], [0, 2], [1]]);
  });

  test('has a suspect server that nothing probes asked beside the first one, once a second', () => {
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

  test('has all asked together when all are suspect', () => {
    suspect(true, 0, 1, 2, 3);
    expect(plan()).toEqual([[0, 1, 2, 3]]);
  });
});
