/** Who works on which blocks in the background. */

/** The blocks are not as they were: another node was first. The transaction that finds it is undone. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/** Whose blocks are worked on: those of runs that have ended long ago are any node's, one at a time. */
export type BlocksOf = 'own' | 'own-and-ended';

/** Condition on a block's `run` with the node's id and a BlocksOf as values, e.g. `$1` and `$2`. */
export const isOf = (nodeId: string, whose: string): string =>
  `(b.node_id = ${nodeId} OR ${whose}::text = 'own-and-ended' AND run.last_at < now() - interval '1 hour')`;
