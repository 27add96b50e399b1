/** A block on its way to the database: stored completely or not at all, and exactly once however often it is sent. */

/** A block as bytes, see `log-block.ts`. */
export interface LogBatch {
  /** Run and first sequence number. */
  readonly id: string;
  readonly rowCount: number;
  readonly bytes: Buffer;
}
