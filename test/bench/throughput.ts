// The rate that a server sustains: found by trials at falling rates, as in RFC 2544 section 26.1, but a trial also
// fails if the query log does not keep up.
const STEP = 0.9;
const MAX_TRIALS = 20;
/**
 * Share of the offered rate that a trial must reach; less than 1, because the time of a trial includes the wait for its
 * last answers.
 */
const REACHED = 0.98;
/** Maximum lag of the stored log at the end of a trial, seconds. */
const LAG_SECS = 1.5;

/** Outcome of a trial. */
export interface Trial {
  readonly answered: number;
  readonly lost: number;
  readonly elapsedSecs: number;
  /** Rows that the log stored until the end of the trial, and rows that it lost. */
  readonly logged: number;
  readonly logLost: number;
}

/** Queries per second of the fastest trial without losses, from `firstQps` down. Throws if all trials had losses. */
export async function findThroughput(
  firstQps: number,
  attempt: (rateQps: number) => Promise<Trial>,
): Promise<number> {
  let rateQps = Math.floor(firstQps);
  for (let trial = 0; trial < MAX_TRIALS; trial++, rateQps = Math.floor(rateQps * STEP)) {
    const { answered, lost, elapsedSecs, logged, logLost } = await attempt(rateQps);
    const reachedQps = answered / elapsedSecs;
    const lagSecs = (answered - logged - logLost) / reachedQps;
    console.log(
      `trial at ${rateQps.toLocaleString('en')} q/s: reached ${Math.round(reachedQps).toLocaleString('en')}, ` +
        `lost ${lost} answers and ${logLost} rows, log ${lagSecs.toFixed(1)} s behind`,
    );
    if (lost + logLost === 0 && lagSecs <= LAG_SECS && reachedQps > rateQps * REACHED) return reachedQps;
  }
  throw new Error(`find throughput: something was lost in each of ${MAX_TRIALS} trials`);
}
