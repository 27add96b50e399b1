/**
 * The thread in which lists are parsed and compiled, so that neither the control plane's loop nor a worker
 * ever waits for it. One job at a time; a job that dies takes its thread with it and nothing else, and the
 * rules in force stay in force. The only importer of piscina.
 */
import { reasonOf } from '../../../shared/thrown.ts';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Piscina } from 'piscina';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { CompileOrder, CompileOutcome, ListFile, ListInspection } from './compile-job.ts';

/** Milliseconds that an idle thread is kept for the next job of a burst. */
const IDLE_MS = 1000;
/** JavaScript heap of the thread, MiB; tables and chunks lie outside of it. */
const HEAP_MIB = 512;

const MIB = 1_048_576;

/** How long a job may take once its thread has begun it. */
export interface JobDeadline {
  readonly baseMs: number;
  /** For each MiB on disk. */
  readonly msPerMib: number;
}

/** Ten times what the largest lists take on a small machine: a job beyond it is stuck. */
const DEADLINE: JobDeadline = { baseMs: 20_000, msPerMib: 2000 };

/** A job failed as a whole: its thread died, ran out of memory or time, or was stopped. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
  /**
   * Place among the job's lists of the one that was at work, one more than the last after all of them; null if none is
   * to blame, since the job was stopped or never begun.
   */
  readonly list: number | null;

  constructor(message: string, list: number | null, cause?: unknown) {
    super(message, { cause });
    this.list = list;
  }
}

/** Runs jobs in a thread of their own. */
export class CompilePool {
  private readonly pool: Piscina;
  private readonly deadline: JobDeadline;
  private readonly semaphore = new Semaphore(1);
  /** Ends the jobs that wait for a thread which died before it took one. */
  private readonly waiting = new Set<AbortController>();

  private isClosed = false;

  constructor(heapMib: number = HEAP_MIB, deadline: JobDeadline = DEADLINE) {
    this.deadline = deadline;
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
    return (await this.run('inspect', [list], { list, watch }, signal)) as ListInspection;
  }

  /** Builds one table of all lists. Throws a CompileError. */
  async compile(order: CompileOrder, signal?: AbortSignal): Promise<CompileOutcome> {
    const job = { ...order, build: randomBytes(4).readUInt32LE(0) };
    return (await this.run('compile', order.lists, job, signal)) as CompileOutcome;
  }

  /**
   * The first line of a list that gives `name` (folded) a rule of one of these `RuleKind` bits; null if there is none.
   * Reads the list again: for people who ask, not for every answer. Throws a CompileError.
   */
  async findLine(list: ListFile, name: string, kinds: number): Promise<number | null> {
    return (await this.run('findLine', [list], { list, name, kinds }, undefined)) as number | null;
  }

  /** Stops the thread; jobs at work reject, and so do later ones. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.pool.destroy();
  }

  /** One at a time by itself: Piscina leaves what waits behind a job whose thread was ended without a thread. */
  private run(
    name: string,
    lists: readonly ListFile[],
    job: object,
    stop: AbortSignal | undefined,
  ): Promise<unknown> {
    return this.semaphore.run(() => this.runNow(name, lists, job, stop));
  }

  private async runNow(
    name: string,
    lists: readonly ListFile[],
    job: object,
    stop: AbortSignal | undefined,
  ): Promise<unknown> {
    const limitMs = await this.limitMs(lists);
    // A destroyed Piscina would start a thread again.
    if (this.isClosed) throw new CompileError(`${name} lists: the compile thread was stopped`, null);
    const died = new AbortController();
    const watch = new JobWatch(limitMs);
    const signals = [died.signal, watch.signal];
    const signal = AbortSignal.any(stop === undefined ? signals : [stop, ...signals]);
    this.waiting.add(died);
    try {
      return await this.pool.run({ ...job, progress: watch.progress }, { name, signal });
    } catch (error) {
      const cause: unknown = died.signal.aborted ? died.signal.reason : error;
      const reason = watch.signal.aborted ? watch.reason : reasonOf(cause);
      const list = this.wasStopped(stop) ? null : watch.listAtWork();
      throw new CompileError(`${name} lists: ${reason}`, list, cause);
    } finally {
      this.waiting.delete(died);
      watch.end();
    }
  }

  private wasStopped(stop: AbortSignal | undefined): boolean {
    return this.isClosed || stop?.aborted === true;
  }

  /** What a list on disk is no more is for the thread to find out. */
  private async limitMs(lists: readonly ListFile[]): Promise<number> {
    const sizes = await Promise.all(
      lists.map(({ path }) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return Math.ceil(this.deadline.baseMs + (bytes / MIB) * this.deadline.msPerMib);
  }
}

/** Ends a job that takes too long, counted from when its thread took it: starting a thread is no fault of a list. */
class JobWatch {
  readonly progress = new Int32Array(new SharedArrayBuffer(4));
  readonly reason: string;
  private readonly late = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private hasEnded = false;

  constructor(limitMs: number) {
    this.reason = `it took longer than ${Math.ceil(limitMs / 1000)} s`;
    const { value } = Atomics.waitAsync(this.progress, 0, 0);
    void Promise.resolve(value).then(() => {
      if (!this.hasEnded) this.timer = setTimeout(() => this.late.abort(), limitMs);
    });
  }

  /** Aborts when the job is late. */
  get signal(): AbortSignal {
    return this.late.signal;
  }

  /** Place of the list that the thread was at; null if it had none. */
  listAtWork(): number | null {
    const place = Atomics.load(this.progress, 0);
    return place === 0 ? null : place - 1;
  }

  /** Stops watching. */
  end(): void {
    this.hasEnded = true;
    clearTimeout(this.timer);
    // Ends the wait where no thread has taken the job.
    Atomics.notify(this.progress, 0);
  }
}
