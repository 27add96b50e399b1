/** State of each node, and one sentence about all of them, worst state first. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A node with its last heartbeat. */
export type ClusterNode = AnswerOf<'GET /nodes'>[number];

/** `behind`: the node still uses an older policy; `late`: heartbeats are missing; `away`: no heartbeat for a minute. */
export type NodeState = 'good' | 'starting' | 'draining' | 'behind' | 'late' | 'away';

/** A change normally reaches all nodes within a second. A node counts as behind only after this time. */
const BEHIND_MS = 5_000;

/** Sentence about all nodes. */
export interface NodesStatus {
  readonly kind: 'alone' | 'agree' | 'away' | 'late' | 'behind' | 'mixed';
  /** Names of the nodes in the sentence, or their versions if these differ; empty if the sentence has neither. */
  readonly names: readonly string[];
}

/**
 * Time of the response by the server's clock: the last heartbeat of the node that sent the response. The browser's
 * clock may differ.
 */
export function answeredAtMs(nodes: readonly ClusterNode[]): number {
  return Math.max(...nodes.map(({ last_seen: at }) => Date.parse(at)));
}

export function stateOf({ presence, state, lag_ms: lag }: ClusterNode): NodeState {
  if (presence !== 'live') return presence === 'gone' ? 'away' : 'late';
  if (state === 'starting' || state === 'draining') return state;
  return (lag ?? 0) > BEHIND_MS ? 'behind' : 'good';
}

/** Minimum difference between clocks for a warning, because times in the log are then misleading. */
const CLOCK_MS = 2_000;

/** Warnings about a node: log rows lost or not yet stored, a wrong clock, configuration keys that differ. */
export interface NodeNotes {
  readonly rowsLost: number;
  readonly rowsMissing: number;
  /** Whether `rowsLost` is a minimum, because more rows may be missing. */
  readonly isMissingMinimum: boolean;
  /** Seconds by which the clock is wrong; 0 if it is right. */
  readonly clockSecs: number;
  readonly drift: readonly string[];
}

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

export function statusOfAll(nodes: readonly ClusterNode[]): NodesStatus {
  for (const kind of ['away', 'late', 'behind'] as const) {
    const names = nodes.filter((node) => stateOf(node) === kind).map(({ node }) => node);
    if (names.length > 0) return { kind, names };
  }
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  if (versions.size > 1) return { kind: 'mixed', names: [...versions].sort() };
  return { kind: nodes.length === 1 ? 'alone' : 'agree', names: [] };
}

/** Seconds since the start of the node; null if that is unknown or the node does not respond. */
export function uptimeSecsOf(node: ClusterNode, nowMs: number): number | null {
  if (node.started_at === null || stateOf(node) === 'away') return null;
  return Math.max(0, Math.round((nowMs - Date.parse(node.started_at)) / 1_000));
}
