/** How each node does, and all of them in one sentence, the worst first. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A node, with what it said last. */
export type ClusterNode = AnswerOf<'GET /nodes'>[number];

/** `behind` = there has been a newer policy for a while; `away` = several heartbeats are missing. */
export type NodeState = 'good' | 'behind' | 'away';

/** Nodes say every 10 s that they run. */
const AWAY_MS = 30_000;
/** A change is in force everywhere within a second; one that is younger is on its way. */
const BEHIND_MS = 5_000;

/** All nodes in one sentence. */
export interface NodesStanding {
  readonly kind: 'alone' | 'agree' | 'away' | 'behind' | 'mixed';
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

/** The state of a node at this moment. */
export function stateOf({ last_seen: seen, lag_ms: lag }: ClusterNode, nowMs: number): NodeState {
  if (nowMs - Date.parse(seen) > AWAY_MS) return 'away';
  return (lag ?? 0) > BEHIND_MS ? 'behind' : 'good';
}

/** How all of them stand. */
export function standingOfAll(nodes: readonly ClusterNode[]): NodesStanding {
  const nowMs = answeredAtMs(nodes);
  for (const kind of ['away', 'behind'] as const) {
    const names = nodes.filter((node) => stateOf(node, nowMs) === kind).map(({ node }) => node);
    if (names.length > 0) return { kind, names };
  }
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  if (versions.size > 1) return { kind: 'mixed', names: [...versions].sort() };
  return { kind: nodes.length === 1 ? 'alone' : 'agree', names: [] };
}

/** Seconds since it started; null where that is not known, or where it is away. */
export function uptimeSecsOf(node: ClusterNode, nowMs: number): number | null {
  if (node.started_at === null || stateOf(node, nowMs) === 'away') return null;
  return Math.max(0, Math.round((nowMs - Date.parse(node.started_at)) / 1_000));
}
