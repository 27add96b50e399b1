/** Rate of answered queries of this node, from the threads' counters in shared memory. */
import { Counter } from '../../../shared/memory/counters.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';

const SECONDS_KEPT = 60;

/** Totals of all threads, sampled once a second. */
export class QueryRate {
  private readonly counters: readonly Float64Array[];
  /** Total number of queries at the start of each of the last seconds, oldest first. */
  private readonly samples: number[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(memories: readonly WorkerMemory[]) {
    this.counters = memories.flatMap((memory) => [
      new Float64Array(memory.answerCounters),
      new Float64Array(memory.resolveCounters),
    ]);
  }

  /** Starts sampling. */
  start(): void {
    this.samples.push(this.total(Counter.QUERIES));
    this.timer = setInterval(() => {
      this.samples.push(this.total(Counter.QUERIES));
      if (this.samples.length > SECONDS_KEPT + 1) this.samples.shift();
    }, 1000);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Number of queries in the last complete second, or in the last sixty seconds (fewer directly after the start). */
  recentQueries(unit: 'second' | 'minute'): number {
    const newest = this.samples.at(-1) ?? 0;
    const from = unit === 'second' ? this.samples.at(-2) : this.samples[0];
    return newest - (from ?? newest);
  }

  /** Sum of a counter (`shared/memory/counters.ts`) over all threads. */
  total(counter: number): number {
    return this.counters.reduce((sum, counters) => sum + counters[counter]!, 0);
  }
}
