/** Configured upstream pools, with the state of each server. */
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../i18n/language.ts';

/** How a pool distributes queries over its servers. */
export const STRATEGIES = ['Parallel', 'Failover', 'Balanced', 'Fastest'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** A pool in the configuration. */
export interface Pool {
  readonly name: string;
  readonly priority: number;
  readonly servers: readonly string[];
  /** Strategy of the pool; if absent, `dns.default_strategy` applies. */
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

/** The active pools, in the order of the API. */
export function poolsOf(servers: readonly ServerState[]): PoolState[] {
  const pools = Map.groupBy(servers, ({ kind, pool_name: name }) => `${kind} ${name}`);
  return [...pools.values()].map((members) => {
    const { kind, pool_name: name, strategy } = members[0]!;
    return { kind, name, strategy, servers: members };
  });
}

/** State of all servers; each server counts once, with its worst known state. */
export interface ServerCounts {
  readonly total: number;
  readonly down: number;
  /** Number of servers that have not been queried yet. */
  readonly unknown: number;
  /** Number of servers that replied earlier, but not to the last query. */
  readonly faltering: number;
}

/** Counts servers by state. Only if all other counts are 0 do all servers reply. */
export function countServers(servers: readonly ServerState[]): ServerCounts {
  const groups = [...Map.groupBy(servers, ({ address }) => address).values()];
  const states = groups.map((group) => {
    const statuses = group.map(({ status }) => status);
    if (statuses.includes('Unhealthy')) return 'down';
    if (statuses.includes('Unknown')) return 'unknown';
    return group.some(({ consecutive_failures: failures }) => failures > 0) ? 'faltering' : 'replying';
  });
  const count = (state: (typeof states)[number]): number => states.filter((one) => one === state).length;
  return {
    total: groups.length,
    down: count('down'),
    unknown: count('unknown'),
    faltering: count('faltering'),
  };
}

/** Message about the state of all servers. */
export interface CountsText {
  readonly tone: 'good' | 'info' | 'warning' | 'fault';
  readonly text: MessageKey;
  readonly filling: Readonly<Record<string, number>>;
}

/**
 * The message about the state of all servers; it states that all of them reply only if each one answered its last
 * query.
 */
export function countsText({ total, down, unknown, faltering }: ServerCounts): CountsText {
  if (down > 0)
    return { tone: down < total ? 'warning' : 'fault', text: 'resolving.down', filling: { down, total } };
  if (unknown > 0 || total === 0)
    return { tone: 'info', text: 'resolving.asking', filling: { known: total - unknown, total } };
  if (faltering > 0) return { tone: 'warning', text: 'resolving.faltering', filling: { count: faltering } };
  return { tone: 'good', text: 'resolving.allReply', filling: { count: total } };
}

/** Servers in a text, separated by lines, commas or spaces. */
export function serversOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((server) => server !== '');
}

/** Index of the pool with this name among the current pools; the number of pools for a new or deleted pool. */
export function placeOf(pool: Pool | undefined, pools: readonly Pool[]): number {
  const place = pools.findIndex(({ name }) => name === pool?.name);
  return place === -1 ? pools.length : place;
}

/**
 * Name of the pool that Weir queries before a pool with this priority and index; null if Weir queries that pool first.
 */
export function askedBefore(priority: number, place: number, pools: readonly Pool[]): string | null {
  const isBefore = (other: Pool, at: number): boolean =>
    at !== place && (other.priority < priority || (other.priority === priority && at < place));
  return (
    pools.filter((other, at) => isBefore(other, at)).toSorted((one, two) => one.priority - two.priority)[0]
      ?.name ?? null
  );
}

/** Name and servers of a pool, as a text. */
export function wordsOf({ name, servers }: Pool): string {
  return `${name} (${servers.join(', ')})`;
}

/** Error message for one field of the pool at this index; null if there is none. */
export function poolProblem(error: Error | null, place: number, part: keyof Pool): string | null {
  if (!(error instanceof ApiFailure)) return null;
  const path = `dns.pools.${place}.${part}`;
  const faults = error.problem?.errors ?? [];
  return faults.find((fault) => fault.path === path || fault.path.startsWith(`${path}.`))?.message ?? null;
}
