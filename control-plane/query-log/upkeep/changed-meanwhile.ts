/** Who works on which blocks in the background. */

/** The blocks are not as they were: another node was first. The transaction that finds it is undone. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/** Condition on a block's `run`: it has ended long ago, so that any node may work on its blocks. */
export const IS_RUN_GONE = `run.last_at < now() - interval '1 hour'`;
