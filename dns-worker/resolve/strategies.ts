/**
 * The order in which a pool's servers are asked, as waves: the servers of one wave are asked at the same time, the next
 * wave when all before it have failed or been silent for a while. Pure; `pool.ts` chooses the servers.
 */
import type { PoolStrategy } from '../../shared/policy/upstream-settings.ts';

/** The data of a server that strategies use. */
export interface Candidate {
  readonly health: { readonly smoothedLatencyMs: number };
}

/** One question in this many goes first to another server than the fastest, so that changes are seen. */
const EXPLORE_EVERY = 16;

/** `turn` counts the questions of the pool; servers are in configured order and not changed. */
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
      return oneByOne(servers);
    case 'Balanced':
      return oneByOne(rotate(servers, turn % servers.length));
    case 'Fastest':
      return oneByOne(fastestFirst(servers, turn));
  }
}

function oneByOne<T>(servers: readonly T[]): readonly (readonly T[])[] {
  return servers.map((server) => [server]);
}

function rotate<T>(servers: readonly T[], by: number): readonly T[] {
  return by === 0 ? servers : [...servers.slice(by), ...servers.slice(0, by)];
}

/** Servers without a measurement come first and get one. */
function fastestFirst<T extends Candidate>(servers: readonly T[], turn: number): readonly T[] {
  const sorted = [...servers].sort((a, b) => a.health.smoothedLatencyMs - b.health.smoothedLatencyMs);
  if (sorted.length < 2 || turn % EXPLORE_EVERY !== EXPLORE_EVERY - 1) return sorted;
  const other = 1 + (Math.floor(turn / EXPLORE_EVERY) % (sorted.length - 1));
  return rotate(sorted, other);
}
