/**
 * The thread in which lists are parsed and compiled, so that neither the control plane's loop nor a worker
 * ever waits for it. One job at a time; a job that dies takes its thread with it and nothing else, and the
 * rules in force stay in force. The only importer of piscina.
 */
import { randomBytes } from 'node:crypto';
import { Piscina } from 'piscina';
import type { CompileJob, CompileOrder, CompileOutcome, ListFile, ListInspection } from './compile-job.ts';

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
  /** Ends the jobs that wait for a thread which died before it took one. */
  private readonly waiting = new Set<AbortController>();

  private isClosed = false;

  constructor(heapMib: number = HEAP_MIB) {
    this.pool = new Piscina({
      filename: new URL('./compile-task.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMib },
    });
    // A thread that dies with a job rejects that job; one that dies without is told of here only.
    this.pool.on('error', (error: unknown) => {
      for (const job of this.waiting) job.abort(error);
    });
  }

  /**
   * Counts what a list holds, and says which of the names `watch` it blocks. Throws a CompileError when the thread dies; an unusable list is no error but
   * has its fault in the statistics.
   */
  async inspect(list: ListFile, watch: readonly string[], signal?: AbortSignal): Promise<ListInspection> {
    return (await this.run('inspect', { list, watch }, signal)) as ListInspection;
  }

  /** Builds one table of all lists. Throws a CompileError. */
  async compile(order: CompileOrder, signal?: AbortSignal): Promise<CompileOutcome> {
    const job: CompileJob = { ...order, build: randomBytes(4).readUInt32LE(0) };
    return (await this.run('compile', job, signal)) as CompileOutcome;
  }

  /**
   * The first line of a list that gives `name` (folded) a rule of one of these `RuleKind` bits; null where
   * there is none. Reads the list again: for people who ask, not for every answer. Throws a CompileError.
   */
  async findLine(list: ListFile, name: string, kinds: number): Promise<number | null> {
    return (await this.run('findLine', { list, name, kinds }, undefined)) as number | null;
  }

  /** Stops the thread; jobs at work reject, and so do later ones. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.pool.destroy();
  }

  private async run(name: string, job: unknown, stop: AbortSignal | undefined): Promise<unknown> {
    // A destroyed Piscina would start a thread again.
    if (this.isClosed) throw new CompileError(`${name} lists: the compile thread was stopped`);
    const died = new AbortController();
    const signal = stop === undefined ? died.signal : AbortSignal.any([stop, died.signal]);
    this.waiting.add(died);
    try {
      return await this.pool.run(job, { name, signal });
    } catch (error) {
      const cause: unknown = died.signal.aborted ? died.signal.reason : error;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CompileError(`${name} lists: ${reason}`, { cause });
    } finally {
      this.waiting.delete(died);
    }
  }
}
