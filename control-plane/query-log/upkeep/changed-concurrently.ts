/** Definitions for background work on blocks that several nodes may do at the same time. */

/**
 * Error: the blocks have changed, because another node has processed them. The transaction that detects this is rolled
 * back.
 */
export class ChangedConcurrently extends Error {
  override readonly name = 'ChangedConcurrently';
}

/**
 * Blocks to process: either those of this node, or also those of runs that ended long ago, which any node may process,
 * one node at a time.
 */
export type BlocksOf = 'own' | 'own-and-ended';

/**
 * SQL condition that a block belongs to a `BlocksOf`. The arguments are the placeholders of the node's id and of the
 * `BlocksOf`, e.g. `$1` and `$2`.
 */
export const isOf = (nodeId: string, whose: string): string =>
  `(b.node_id = ${nodeId} OR ${whose}::text = 'own-and-ended' AND run.last_at < now() - interval '1 hour')`;
