// The rate that a server keeps up with: found by trials at falling rates, as RFC 2544 section 26.1 has it, but that
// a query also counts as lost when the stored query log does not have it.
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadJob } from './load/load.ts';
import type { RunningServer, Stage } from './running-server.ts';

const TRIAL_SECS = 10;
/** A trial's rate by that of the one before. */
const STEP = 0.95;
const MOST_TRIALS = 20;
/** Milliseconds after which a row that is not stored was not kept up with. */
const LOG_PATIENCE_MS = 2500;

/** Queries a second of the fastest trial in which nothing was lost, from `firstQps` down. Throws where all lost some. */
export async function findThroughput(
  stage: Stage,
  running: RunningServer,
  job: Omit<LoadJob, 'secs' | 'rateQps'>,
  firstQps: number,
): Promise<number> {
  let rateQps = Math.floor(firstQps);
  for (let trial = 0; trial < MOST_TRIALS; trial++, rateQps = Math.floor(rateQps * STEP)) {
    const since = new Date();
    const { answered, lost, elapsedSecs } = await stage.load.run({ ...job, secs: TRIAL_SECS, rateQps });
    await delay(LOG_PATIENCE_MS);
    const unlogged = answered - (await running.api!.storedQueries(since));
    const reachedQps = answered / elapsedSecs;
    console.log(
      `trial at ${rateQps.toLocaleString('en')} q/s: reached ${Math.round(reachedQps).toLocaleString('en')}, ` +
        `${lost} answers lost, ${Math.max(0, unlogged)} rows not in the log`,
    );
    if (lost === 0 && unlogged <= 0 && reachedQps > rateQps * 0.99) return reachedQps;
    await delay(LOG_PATIENCE_MS * 2); // for what the log still has to catch up with
  }
  throw new Error(`find throughput of ${running.name}: something was lost in each of ${MOST_TRIALS} trials`);
}
