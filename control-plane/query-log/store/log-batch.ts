/** A block on its way into the database: stored whole or not at all, and once however often it is sent. */

/** A block as bytes, see `log-block.ts`. */
export interface LogBatch {
  /** Run and first number. */
  readonly id: string;
  readonly rowCount: number;
  readonly bytes: Buffer;
}
