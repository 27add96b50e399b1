/**
 * A block on its way to the database: it is stored completely or not at all, and only once even if it is sent several
 * times.
 */

/** A block as bytes, see `log-block.ts`. */
export interface LogBatch {
  /** Consists of the run and the first sequence number. */
  readonly id: string;
  readonly rowCount: number;
  readonly bytes: Buffer;
}
