// Asking a Weir with test hooks what its threads have counted and allocated, and taking differences of that.
import type { MeasuredThread, MeasureReply } from '../../control-plane/threads/fault-injection.ts';
import type { Child } from './process/child.ts';

export type WorkerMeasures = MeasureReply['workers'];

let questions = 0;

/** Every worker's threads as they are now. Rejects if the server has no test hooks. */
export async function askThreads(child: Child): Promise<WorkerMeasures> {
  return ((await child.ask({ measure: ++questions })) as MeasureReply).workers;
}

/** Rows of the query log: stored so far, and lost so far, before the writer or by it. */
export async function askLog(child: Child): Promise<{ written: number; lost: number }> {
  const { workers, log } = (await child.ask({ measure: ++questions })) as MeasureReply;
  const found = threadsOf(workers).reduce(
    (sum, { logRecordsDropped }) => sum + logRecordsDropped,
    log.dropped,
  );
  return { written: log.written, lost: found };
}

/** Sum of a counter over threads. */
export function countOf(threads: readonly MeasuredThread[], counter: string): number {
  return threads.reduce((total, { counters }) => total + (counters[counter] ?? 0), 0);
}

/** All threads of all workers. */
export function threadsOf(workers: WorkerMeasures): MeasuredThread[] {
  return workers.flatMap(({ answer, resolve }) => [answer, resolve]);
}

/** The longest collection in milliseconds since the question before, 0 if there were no collections. */
export function longestPauseMs(threads: readonly MeasuredThread[]): number {
  const pauses = threads.flatMap(({ memory }) => memory?.collections.map(({ pauseMs }) => pauseMs) ?? []);
  return Math.max(0, ...pauses);
}
