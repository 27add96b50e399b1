/** Coordinates background work on blocks among nodes. */

/** The blocks have changed, because another node was faster. The transaction that detects this is rolled back. */
export class ChangedConcurrently extends Error {
  override readonly name = 'ChangedConcurrently';
}

/** Blocks to work on: those of runs that ended long ago may be processed by any node, one at a time. */
export type BlocksOf = 'own' | 'own-and-ended';

/** SQL condition on a block's `run`, with the node's id and a BlocksOf as values, e.g. `$1` and `$2`. */
export const isOf = (nodeId: string, whose: string): string =>
  `(b.node_id = ${nodeId} OR ${whose}::text = 'own-and-ended' AND run.last_at < now() - interval '1 hour')`;
