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
    return wavesOf(this.strategy, usable, this.turn++);
  }
}

/**
 * The servers to ask for one question, in waves: those that answer, then together those that may be down, then those
 * that are. `pools` are in order of priority. Empty = no server can be asked.
 */
export function planWaves(pools: readonly Pool[], nowMs: number): Upstream[][] {
  const waves: Upstream[][] = [];
  const suspects: Upstream[] = [];
  const setAside: Upstream[] = [];
  for (const pool of pools) {
    for (const wave of pool.waves()) {
      const answering = wave.filter(({ health }) => !health.isSuspect);
      suspects.push(...wave.filter(({ health }) => health.isSuspect));
      if (answering.length > 0) waves.push(answering);
    }
    for (const upstream of pool.upstreams) {
      if (upstream.health.status === 'Unhealthy') setAside.push(upstream);
    }
  }
  const tried = waves.length === 0 ? [] : suspects.filter((upstream) => upstream.isTried(nowMs));
  waves[0]?.push(...tried);
  const planned = waves.slice(0, MAX_WAVES).map((wave) => wave.slice(0, MAX_WAVE));
  const waiting = suspects.filter((upstream) => !tried.includes(upstream));
  for (const group of [waiting, setAside]) {
    for (let i = 0; i < group.length && planned.length < MAX_WAVES; i += MAX_WAVE) {
      planned.push(group.slice(i, i + MAX_WAVE));
    }
  }
  return planned;
}
