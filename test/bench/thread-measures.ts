// Reads counters and allocations of a Weir server's threads through the test hooks, and computes differences.
import type { MeasuredThread, MeasureReply } from '../../control-plane/threads/fault-injection.ts';
import type { Child } from './process/child.ts';

export type WorkerMeasures = MeasureReply['workers'];

let questions = 0;

/** The current values of every worker's threads. Rejects if the server has no test hooks. */
export async function askThreads(child: Child): Promise<WorkerMeasures> {
  return ((await child.ask({ measure: ++questions })) as MeasureReply).workers;
}

/** Rows of the query log: stored so far, and lost so far, by the writer or before they reached it. */
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

/** The longest garbage collection since the previous reading, in milliseconds; 0 if there was none. */
export function longestPauseMs(threads: readonly MeasuredThread[]): number {
  const pauses = threads.flatMap(({ memory }) => memory?.collections.map(({ pauseMs }) => pauseMs) ?? []);
  return Math.max(0, ...pauses);
}
