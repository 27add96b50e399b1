/**
 * The thread in which lists are parsed and compiled, so that neither the control plane's loop nor a worker
 * ever waits for it. One job at a time; a job that dies takes its thread with it and nothing else, and the
 * rules in force stay in force. The only importer of piscina.
 */
import { randomBytes } from 'node:crypto';
import { Piscina } from 'piscina';
import type { ListStatistics } from '../lists/list-statistics.ts';
import type { CompileJob, CompileOutcome, ListFile } from './compile-job.ts';

/** Milliseconds that an idle thread is kept for the next job of a burst. */
const IDLE_MS = 1000;
/** JavaScript heap of the thread, MiB; tables and chunks lie outside of it. */
const HEAP_MIB = 512;

/** A job failed as a whole: its thread died, ran out of memory, or was stopped. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
}

/** Runs jobs in a thread of their own. */
export class CompilePool {
  private readonly pool: Piscina;

  constructor(heapMib: number = HEAP_MIB) {
    this.pool = new Piscina({
      filename: new URL('./compile-task.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMib },
    });
  }

  /**
   * Counts what a list holds. Throws a CompileError when the thread dies; an unusable list is no error but
   * has its fault in the statistics.
   */
  async inspect(list: ListFile, signal?: AbortSignal): Promise<ListStatistics> {
    return (await this.run('inspect', list, signal)) as ListStatistics;
  }

  /** Builds one table of all lists, with fresh seeds. Throws a CompileError. */
  async compile(
    lists: readonly ListFile[],
    expectedNames: number,
    signal?: AbortSignal,
  ): Promise<CompileOutcome> {
    const random = randomBytes(8);
    const seeds = { low: random.readInt32LE(0), high: random.readInt32LE(4) };
    const job: CompileJob = { lists, seeds, expectedNames };
    return (await this.run('compile', job, signal)) as CompileOutcome;
  }

  /** Stops the thread; jobs at work reject. */
  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async run(name: string, job: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    try {
      return await this.pool.run(job, signal === undefined ? { name } : { name, signal });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CompileError(`${name} lists: ${reason}`, { cause });
    }
  }
}
