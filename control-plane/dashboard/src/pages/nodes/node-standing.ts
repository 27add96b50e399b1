/** State of each node, and of all of them in one sentence, the worst first. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A node, with what it said last. */
export type ClusterNode = AnswerOf<'GET /nodes'>[number];

/** `behind` = there has been a newer policy for a while; `late` = heartbeats are missing; `away` = for a minute. */
export type NodeState = 'good' | 'starting' | 'draining' | 'behind' | 'late' | 'away';

/** A change normally reaches all nodes within a second; a node is behind only after this time. */
const BEHIND_MS = 5_000;

/** All nodes in one sentence. */
export interface NodesStanding {
  readonly kind: 'alone' | 'agree' | 'away' | 'late' | 'behind' | 'mixed';
  /** Of the nodes that it is about; of versions where these differ; else empty. */
  readonly names: readonly string[];
}

/**
 * The moment that the answer is of, by the clock of the server: the node that answered is in it with that moment. The
 * clock of the browser may be another one.
 */
export function answeredAtMs(nodes: readonly ClusterNode[]): number {
  return Math.max(...nodes.map(({ last_seen: at }) => Date.parse(at)));
}

/** The state of a node. */
export function stateOf({ presence, state, lag_ms: lag }: ClusterNode): NodeState {
  if (presence !== 'live') return presence === 'gone' ? 'away' : 'late';
  if (state === 'starting' || state === 'draining') return state;
  return (lag ?? 0) > BEHIND_MS ? 'behind' : 'good';
}

/** A clock that differs by more than this makes times of the log misleading. */
const CLOCK_MS = 2_000;

/** Warnings about a node: log rows lost or not yet stored, a wrong clock, configuration keys that differ. */
export interface NodeNotes {
  readonly rowsLost: number;
  readonly rowsMissing: number;
  /** There may be more. */
  readonly isMissingMinimum: boolean;
  /** Seconds; 0 = right. */
  readonly clockSecs: number;
  readonly drift: readonly string[];
}

/** The warnings about a node. */
export function notesOf(node: ClusterNode): NodeNotes {
  const offsetMs = node.clock_offset_ms ?? 0;
  return {
    rowsLost: node.rows_lost ?? 0,
    rowsMissing: node.rows_missing,
    isMissingMinimum: node.rows_missing_is_minimum,
    clockSecs: Math.abs(offsetMs) > CLOCK_MS ? Math.round(offsetMs / 1_000) : 0,
    drift: node.drift ?? [],
  };
}

/** State of all nodes. */
export function standingOfAll(nodes: readonly ClusterNode[]): NodesStanding {
  for (const kind of ['away', 'late', 'behind'] as const) {
    const names = nodes.filter((node) => stateOf(node) === kind).map(({ node }) => node);
    if (names.length > 0) return { kind, names };
  }
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  if (versions.size > 1) return { kind: 'mixed', names: [...versions].sort() };
  return { kind: nodes.length === 1 ? 'alone' : 'agree', names: [] };
}

/** Seconds since it started; null if that is unknown or the node is away. */
export function uptimeSecsOf(node: ClusterNode, nowMs: number): number | null {
  if (node.started_at === null || stateOf(node) === 'away') return null;
  return Math.max(0, Math.round((nowMs - Date.parse(node.started_at)) / 1_000));
}
