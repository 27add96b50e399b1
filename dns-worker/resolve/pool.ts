/**
 * Pools of upstreams in the order of their priority, and the plan of whom to ask for one question: every pool's healthy
 * servers as its strategy has them, then the unhealthy ones, which are better than no answer.
 */
import type { PoolStrategy } from '../../shared/policy/upstream-settings.ts';
import { wavesOf } from './strategies.ts';
import type { Upstream } from './upstream.ts';

/** Most servers that one question asks at the same time. */
const MAX_WAVE = 8;
/** Most waves of one question; with `MAX_WAVE` it bounds the packets a client's question can cause. */
const MAX_WAVES = 16;

/** A pool with its servers. */
export class Pool {
  readonly name: string;
  readonly priority: number;
  readonly upstreams: readonly Upstream[];
  private readonly strategy: PoolStrategy;
  private turn = 0;

  constructor(name: string, strategy: PoolStrategy, priority: number, upstreams: readonly Upstream[]) {
    this.name = name;
    this.priority = priority;
    this.upstreams = upstreams;
    this.strategy = strategy;
  }

  /** The waves of its healthy servers; counts as one question. */
  waves(): Upstream[][] {
    const usable = this.upstreams.filter((upstream) => upstream.health.status !== 'Unhealthy');
    return besideSuspects(wavesOf(this.strategy, usable, this.turn++));
  }
}

/** A server that may be down is asked together with the next one that is not: it may have recovered. */
function besideSuspects(waves: readonly Upstream[][]): Upstream[][] {
  const merged: Upstream[][] = [];
  let suspects: Upstream[] = [];
  for (const wave of waves) {
    suspects.push(...wave);
    if (suspects.every(({ health }) => health.isSuspect)) continue;
    merged.push(suspects);
    suspects = [];
  }
  return suspects.length === 0 ? merged : [...merged, suspects];
}

/** The servers to ask for one question, in waves. `pools` are in order of priority. Empty = no server can be asked. */
export function planWaves(pools: readonly Pool[]): Upstream[][] {
  const waves: Upstream[][] = [];
  const setAside: Upstream[] = [];
  for (const pool of pools) {
    for (const wave of pool.waves()) waves.push(wave.slice(0, MAX_WAVE));
    for (const upstream of pool.upstreams) {
      if (upstream.health.status === 'Unhealthy') setAside.push(upstream);
    }
  }
  const healthy = waves.slice(0, MAX_WAVES);
  for (let i = 0; i < setAside.length && healthy.length < MAX_WAVES; i += MAX_WAVE) {
    healthy.push(setAside.slice(i, i + MAX_WAVE));
  }
  return healthy;
}
