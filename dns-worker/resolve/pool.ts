/**
 * Pools of upstreams in order of priority, and the plan of servers for one question, in waves. The servers of a wave
 * are queried at the same time; the next wave follows when all servers queried so far have failed or have been silent
 * for a while. The healthy servers of all pools come first, in the order of each pool's strategy; then servers that may
 * be down, then servers that are unhealthy or remove signatures, and last the servers that this question avoids.
 */
import type { PoolStrategy } from '../../shared/policy/upstream-settings.ts';
import type { Upstream } from './upstream.ts';

/** Maximum number of servers that are queried for one question at the same time. */
export const MAX_WAVE = 8;
/** Maximum number of waves per question; with `MAX_WAVE` it limits the packets that a client's query can cause. */
const MAX_WAVES = 16;
const NONE: ReadonlySet<number> = new Set();

/** Waves of servers: those in one wave are queried at the same time. */
type Waves = readonly (readonly Upstream[])[];

/** A pool with its servers. */
export class Pool {
  readonly name: string;
  readonly priority: number;
  readonly upstreams: readonly Upstream[];
  readonly strategy: PoolStrategy;
  private turn = 0;

  constructor(name: string, strategy: PoolStrategy, priority: number, upstreams: readonly Upstream[]) {
    this.name = name;
    this.priority = priority;
    this.upstreams = upstreams;
    this.strategy = strategy;
  }

  /** The waves of all servers, or of those for which `usable` is true; each call counts as one question. */
  waves(usable?: (upstream: Upstream) => boolean): Waves {
    const servers = usable === undefined ? this.upstreams : this.upstreams.filter(usable);
    return wavesOf(this.strategy, servers, this.turn++);
  }
}

/**
 * The servers to query for one question, in waves: first servers that answer, then all servers that may be down (in one
 * wave), then all other servers. `pools` are in order of priority; `avoided` as in `Question`. Empty = no server can be
 * queried.
 */
export function planWaves(pools: readonly Pool[], nowMs: number, avoided: ReadonlySet<number> = NONE): Waves {
  // In the usual case no server has a fault: skip the work below.
  if (avoided.size === 0 && pools.every(isInOrder)) return withinLimits(usualWaves(pools));
  const all = pools.flatMap(({ upstreams }) => upstreams);
  // If every server removes signatures, only unsigned names can be answered, and the strategy determines the order.
  const needsSignatures = all.some(({ removesSignatures }) => !removesSignatures);
  const isPreferred = (upstream: Upstream): boolean =>
    upstream.health.status !== 'Unhealthy' &&
    !(needsSignatures && upstream.removesSignatures) &&
    !avoided.has(upstream.index);
  const waves = pools.flatMap((pool) => pool.waves(isPreferred));
  const others = all.filter((upstream) => !isPreferred(upstream));
  const { answering, suspects } = withoutSuspects(waves, nowMs);
  return withinLimits([
    ...answering,
    ...inWaves(suspects),
    ...inWaves(others.filter(({ index }) => !avoided.has(index))),
    ...inWaves(others.filter(({ index }) => avoided.has(index))),
  ]);
}

function isInOrder({ upstreams }: Pool): boolean {
  return upstreams.every((upstream) => upstream.isInOrder);
}

function usualWaves(pools: readonly Pool[]): Waves {
  const [first] = pools;
  return pools.length === 1 && first !== undefined ? first.waves() : pools.flatMap((pool) => pool.waves());
}

function withinLimits(waves: Waves): Waves {
  if (waves.length <= MAX_WAVES && waves.every(isWithinLimit)) return waves;
  return waves.slice(0, MAX_WAVES).map((wave) => (isWithinLimit(wave) ? wave : wave.slice(0, MAX_WAVE)));
}

function isWithinLimit({ length }: readonly Upstream[]): boolean {
  return length <= MAX_WAVE;
}

/** Removes suspect servers from the waves, except one, which is tried in parallel with the first servers. */
function withoutSuspects(
  waves: Waves,
  nowMs: number,
): { readonly answering: Waves; readonly suspects: readonly Upstream[] } {
  const all = waves.flat();
  if (all.every(({ health }) => !health.isSuspect)) return { answering: waves, suspects: [] };
  const answering = waves
    .map((wave) => wave.filter(({ health }) => !health.isSuspect))
    .filter(({ length }) => length > 0);
  const suspects = all.filter(({ health }) => health.isSuspect);
  const [first] = answering;
  const tried = first === undefined ? [] : suspects.filter((upstream) => upstream.isTried(nowMs));
  first?.push(...tried);
  return { answering, suspects: suspects.filter((upstream) => !tried.includes(upstream)) };
}

function inWaves(upstreams: readonly Upstream[]): Waves {
  const waves: (readonly Upstream[])[] = [];
  for (let i = 0; i < upstreams.length; i += MAX_WAVE) waves.push(upstreams.slice(i, i + MAX_WAVE));
  return waves;
}

/** The properties of a server that strategies use. */
export interface Candidate {
  readonly health: { readonly smoothedLatencyMs: number };
}

/** One of this many questions goes first to a server that is not the fastest, to notice changes. */
const EXPLORE_EVERY = 16;

/** `turn` counts the questions of the pool; servers are in configured order, and are not modified. */
export function wavesOf<T extends Candidate>(
  strategy: PoolStrategy,
  servers: readonly T[],
  turn: number,
): readonly (readonly T[])[] {
  if (servers.length === 0) return [];
  switch (strategy) {
    case 'Parallel':
      return [servers];
    case 'Failover':
    case 'Balanced':
    case 'Fastest': {
      const inOrder = askingOrder(strategy, servers);
      return oneByOne(rotate(inOrder, firstPlace(strategy, inOrder.length, turn)));
    }
  }
}

/**
 * The servers in the order of the strategy; servers without a measured latency come first, so that their latency is
 * measured.
 */
export function askingOrder<T extends Candidate>(
  strategy: PoolStrategy,
  servers: readonly T[],
): readonly T[] {
  if (strategy !== 'Fastest') return servers;
  return [...servers].sort((a, b) => a.health.smoothedLatencyMs - b.health.smoothedLatencyMs);
}

/** The position, in the order of the strategy, of the server that is queried first. */
export function firstPlace(strategy: PoolStrategy, count: number, turn: number): number {
  if (strategy === 'Balanced') return turn % count;
  const explores = strategy === 'Fastest' && count > 1 && turn % EXPLORE_EVERY === EXPLORE_EVERY - 1;
  return explores ? 1 + (Math.floor(turn / EXPLORE_EVERY) % (count - 1)) : 0;
}

function oneByOne<T>(servers: readonly T[]): readonly (readonly T[])[] {
  return servers.map((server) => [server]);
}

function rotate<T>(servers: readonly T[], by: number): readonly T[] {
  return by === 0 ? servers : [...servers.slice(by), ...servers.slice(0, by)];
}
