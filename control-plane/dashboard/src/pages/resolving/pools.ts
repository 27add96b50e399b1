/** Pools of upstream servers as they are configured, with the state of each server. */
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** The ways in which a pool shares its questions. */
export const STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** A pool in the configuration. */
export interface Pool {
  readonly name: string;
  readonly priority: number;
  readonly servers: readonly string[];
  /** Absent = that of the setting `dns.default_strategy`. */
  readonly strategy?: Strategy;
}

/** A server with its state. */
export type ServerState = AnswerOf<'GET /upstream/health/detail'>[number];

/** The servers of one pool, or of one forward zone. */
export interface PoolState {
  readonly kind: ServerState['kind'];
  readonly name: string;
  readonly strategy: Strategy;
  readonly servers: readonly ServerState[];
}

/** The pools in force, in the order in which the server tells them. */
export function poolsOf(servers: readonly ServerState[]): PoolState[] {
  const pools = Map.groupBy(servers, ({ kind, pool_name: name }) => `${kind} ${name}`);
  return [...pools.values()].map((members) => {
    const { kind, pool_name: name, strategy } = members[0]!;
    return { kind, name, strategy, servers: members };
  });
}

/** How all servers together stand: how many do not reply, of how many. */
export function standingOf(servers: readonly ServerState[]): { down: number; total: number } {
  const known = new Map(servers.map(({ address, status }) => [address, status]));
  return { down: [...known.values()].filter((status) => status === 'Unhealthy').length, total: known.size };
}

/** Servers as people write them: one a line, or with commas or blanks between them. */
export function serversOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((server) => server !== '');
}

/** What the server says of one part of the pool at this place; null = nothing. */
export function poolProblem(error: Error | null, place: number, part: keyof Pool): string | null {
  if (!(error instanceof ApiFailure)) return null;
  const path = `dns.pools.${place}.${part}`;
  const faults = error.problem?.errors ?? [];
  return faults.find((fault) => fault.path === path || fault.path.startsWith(`${path}.`))?.message ?? null;
}
