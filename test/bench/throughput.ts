// The rate that a server keeps up with: found by trials at falling rates, as RFC 2544 section 26.1 has it, but that
// the query log has to keep up too.
const STEP = 0.9;
const MOST_TRIALS = 20;
/** Part of the asked rate that has to be reached; the last questions of a trial are waited for. */
const REACHED = 0.98;
/** Seconds by which the stored log may be behind at the end of a trial. */
const LAG_SECS = 1.5;

/** Outcome of a trial. */
export interface Trial {
  readonly answered: number;
  readonly lost: number;
  readonly elapsedSecs: number;
  /** Rows of it that the log stored until its end, and those that it has lost. */
  readonly logged: number;
  readonly logLost: number;
}

/** Queries a second of the fastest trial in which nothing was lost, from `firstQps` down. Throws if all lost some. */
export async function findThroughput(
  firstQps: number,
  attempt: (rateQps: number) => Promise<Trial>,
): Promise<number> {
  let rateQps = Math.floor(firstQps);
  for (let trial = 0; trial < MOST_TRIALS; trial++, rateQps = Math.floor(rateQps * STEP)) {
    const { answered, lost, elapsedSecs, logged, logLost } = await attempt(rateQps);
    const reachedQps = answered / elapsedSecs;
    const lagSecs = (answered - logged - logLost) / reachedQps;
    console.log(
      `trial at ${rateQps.toLocaleString('en')} q/s: reached ${Math.round(reachedQps).toLocaleString('en')}, ` +
        `lost ${lost} answers and ${logLost} rows, log ${lagSecs.toFixed(1)} s behind`,
    );
    if (lost + logLost === 0 && lagSecs <= LAG_SECS && reachedQps > rateQps * REACHED) return reachedQps;
  }
  throw new Error(`find throughput: something was lost in each of ${MOST_TRIALS} trials`);
}
