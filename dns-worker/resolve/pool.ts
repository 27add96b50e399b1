/**
 * Pools of upstreams in the order of their priority, and the plan of whom to ask for one question: every pool's healthy
 * servers as its strategy has them, then the unhealthy ones and those that remove signatures, which are better than no
 * answer, and last the ones that this question avoids.
 */
import type { PoolStrategy } from '../../shared/policy/upstream-settings.ts';
import { wavesOf } from './strategies.ts';
import type { Upstream } from './upstream.ts';

/** Most servers that one question asks at the same time. */
const MAX_WAVE = 8;
/** Most waves of one question; with `MAX_WAVE` it bounds the packets a client's question can cause. */
const MAX_WAVES = 16;
const NONE: ReadonlySet<number> = new Set();

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

  /** The waves of the servers in `usable`; counts as one question. */
  waves(usable: (upstream: Upstream) => boolean): Upstream[][] {
    return besideSuspects(wavesOf(this.strategy, this.upstreams.filter(usable), this.turn++));
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

/**
 * The servers to ask for one question, in waves. `pools` are in order of priority; `avoided` as in `Question`. Empty =
 * no server can be asked.
 */
export function planWaves(pools: readonly Pool[], avoided: ReadonlySet<number> = NONE): Upstream[][] {
  const all = pools.flatMap(({ upstreams }) => upstreams);
  // If every server removes signatures, only unsigned names can be answered, and their order is the strategy's.
  const needsSignatures = all.some(({ removesSignatures }) => !removesSignatures);
  const isPreferred = (upstream: Upstream): boolean =>
    upstream.health.status !== 'Unhealthy' &&
    !(needsSignatures && upstream.removesSignatures) &&
    !avoided.has(upstream.index);
  const waves: Upstream[][] = [];
  for (const pool of pools) for (const wave of pool.waves(isPreferred)) waves.push(wave.slice(0, MAX_WAVE));
  const setAside = all.filter((upstream) => !isPreferred(upstream));
  if (setAside.length === 0) return waves.slice(0, MAX_WAVES);
  const planned = [
    ...waves.slice(0, MAX_WAVES),
    ...inWaves(setAside.filter(({ index }) => !avoided.has(index))),
    ...inWaves(setAside.filter(({ index }) => avoided.has(index))),
  ];
  return planned.slice(0, MAX_WAVES);
}

function inWaves(upstreams: readonly Upstream[]): Upstream[][] {
  const waves: Upstream[][] = [];
  for (let i = 0; i < upstreams.length; i += MAX_WAVE) waves.push(upstreams.slice(i, i + MAX_WAVE));
  return waves;
}
