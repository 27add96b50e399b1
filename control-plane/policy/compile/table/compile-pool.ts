/**
 * Parses and compiles lists in a separate thread, so that neither the control plane's event loop nor a DNS thread
 * waits. Runs one job at a time. If a job crashes, only its thread ends, and the active rules stay active. Only this
 * file imports piscina, when the first job starts.
 */
import { reasonOf } from '../../../../shared/errors.ts';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { Semaphore } from '../../../storage/concurrency/semaphore.ts';
import type { CompileOrder, CompileOutcome, ListFile, ListInspection, ListMeasure } from './compile-job.ts';
import type { ActiveRules } from './list-overlap.ts';

/** Milliseconds for which an idle thread is kept for the next job. */
const IDLE_MS = 1000;
/** JavaScript heap of the thread, in MiB; tables and chunks are outside the heap. */
const HEAP_MIB = 512;

const MIB = 1_048_576;

/** CPU time limit of a job. */
export interface JobDeadline {
  readonly baseMs: number;
  /** Additional milliseconds for each MiB of lists on disk. */
  readonly msPerMib: number;
}

/**
 * Ten times the CPU time that the largest lists need on a small machine. A job that takes longer is assumed to be
 * stuck.
 */
const DEADLINE: JobDeadline = { baseMs: 20_000, msPerMib: 2000 };
/**
 * Elapsed time limit of a job, as a multiple of its CPU time limit: a thread with low priority waits long on a busy
 * machine.
 */
const BY_CLOCK = 10;

/** Error: a whole job failed, because its thread died, exceeded its memory or time limit, or was stopped. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
  /**
   * Index of the list that was being processed; the number of lists if all were processed; null if no list can be the
   * cause, because the job was stopped or never started.
   */
  readonly list: number | null;

  constructor(message: string, list: number | null, cause?: unknown) {
    super(message, { cause });
    this.list = list;
  }
}

/** Verbs for messages about jobs whose name is not one. */
const VERBS: Readonly<Record<string, string>> = { findLine: 'search' };

/** Runs jobs in a separate thread. */
export class CompilePool {
  private opened: Promise<Piscina> | undefined;
  private readonly heapMib: number;
  private readonly deadline: JobDeadline;
  private readonly semaphore = new Semaphore(1);
  /** Jobs that no thread has taken yet; they are aborted if the thread dies. */
  private readonly waiting = new Set<AbortController>();

  private isClosed = false;

  constructor(heapMib: number = HEAP_MIB, deadline: JobDeadline = DEADLINE) {
    this.heapMib = heapMib;
    this.deadline = deadline;
  }

  /**
   * Counts the rules of a list, and returns which of the names in `watch` the list blocks. Throws a CompileError if the
   * thread dies. An unusable list is not an error; its statistics contain the reason.
   */
  async inspect(list: ListFile, watch: readonly string[], signal?: AbortSignal): Promise<ListInspection> {
    return (await this.run('inspect', [list], { list, watch }, signal)) as ListInspection;
  }

  /** Counts the distinct rules of a list, and how many of them active lists also have. Throws a CompileError. */
  async measure(list: ListFile, active: ActiveRules, signal?: AbortSignal): Promise<ListMeasure> {
    return (await this.run('measure', [list], { list, active }, signal)) as ListMeasure;
  }

  /** Builds one table from all lists. Throws a CompileError. */
  async compile(order: CompileOrder, signal?: AbortSignal): Promise<CompileOutcome> {
    const job = { ...order, build: randomBytes(4).readUInt32LE(0) };
    return (await this.run('compile', order.lists, job, signal)) as CompileOutcome;
  }

  /**
   * The first line of a list that has a rule with one of these `RuleKind` bits for `name` (lower case); null if there
   * is no such line. Reads the whole list, so call this only on demand. Throws a CompileError.
   */
  async findLine(list: ListFile, name: string, kinds: number): Promise<number | null> {
    return (await this.run('findLine', [list], { list, name, kinds }, undefined)) as number | null;
  }

  /** Stops the thread; running and later jobs are rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    await (await this.opened)?.destroy();
  }

  /**
   * Jobs are queued here, because Piscina would not start a new thread for queued jobs after its thread is terminated.
   */
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
    const pool = await (this.opened ??= this.open());
    // A destroyed Piscina would start a thread again.
    if (this.isClosed)
      throw new CompileError(`could not ${VERBS[name] ?? name} lists: the compile thread was stopped`, null);
    const died = new AbortController();
    const watch = new JobWatch(limitMs, () => pool.threads[0]);
    const signals = [died.signal, watch.signal];
    const signal = AbortSignal.any(stop === undefined ? signals : [stop, ...signals]);
    this.waiting.add(died);
    try {
      return await pool.run({ ...job, progress: watch.progress }, { name, signal });
    } catch (error) {
      const cause: unknown = died.signal.aborted ? died.signal.reason : error;
      const reason = watch.signal.aborted ? watch.reason : reasonOf(cause);
      const list = this.wasStopped(stop) ? null : watch.listAtWork();
      throw new CompileError(`could not ${VERBS[name] ?? name} lists: ${reason}`, list, cause);
    } finally {
      this.waiting.delete(died);
      watch.end();
    }
  }

  private async open(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const pool = new Piscina({
      filename: new URL('./compile-task.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: this.heapMib },
    });
    // If a thread dies during a job, the job is rejected; if it dies while idle, only this event reports the error.
    pool.on('error', (error: unknown) => {
      for (const job of this.waiting) job.abort(error);
    });
    return pool;
  }

  private wasStopped(stop: AbortSignal | undefined): boolean {
    return this.isClosed || stop?.aborted === true;
  }

  /** Lists that are no longer on disk are ignored here, because the thread reports them. */
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

/**
 * Aborts a job that exceeds its CPU time, measured from when its thread took the job. The time to start the thread and
 * other work of the machine do not count. A job that does not use the CPU ends at the limit of elapsed time.
 */
class JobWatch {
  readonly progress = new Int32Array(new SharedArrayBuffer(4));
  readonly reason: string;
  private readonly late = new AbortController();
  private readonly limitMs: number;
  private readonly thread: () => Worker | undefined;
  private readonly timers: NodeJS.Timeout[] = [];
  private hasEnded = false;

  constructor(limitMs: number, thread: () => Worker | undefined) {
    this.limitMs = limitMs;
    this.thread = thread;
    this.reason = `it took longer than ${Math.ceil(limitMs / 1000)} s`;
    const { value } = Atomics.waitAsync(this.progress, 0, 0);
    void Promise.resolve(value).then(() => this.begin());
  }

  /** Aborts when the job exceeds its time. */
  get signal(): AbortSignal {
    return this.late.signal;
  }

  /** Index of the list that the thread was processing; null if none. */
  listAtWork(): number | null {
    const place = Atomics.load(this.progress, 0);
    return place === 0 ? null : place - 1;
  }

  /** Stops watching the job. */
  end(): void {
    this.hasEnded = true;
    for (const timer of this.timers) clearTimeout(timer);
    // Ends the wait in `watch()` if no thread has taken the job.
    Atomics.notify(this.progress, 0);
  }

  private async begin(): Promise<void> {
    if (this.hasEnded) return;
    // Limits the elapsed time as well, because a thread that is stuck outside JavaScript does not report its CPU time.
    this.after(BY_CLOCK * this.limitMs, () => this.late.abort());
    const beforeMs = await this.usedMs();
    const check = async (): Promise<void> => {
      const leftMs = this.limitMs - ((await this.usedMs()) - beforeMs);
      if (leftMs <= 0) this.late.abort();
      else this.after(leftMs, check);
    };
    this.after(this.limitMs, check);
  }

  private after(ms: number, act: () => unknown): void {
    if (!this.hasEnded) this.timers.push(setTimeout(act, ms));
  }

  /** CPU time of the thread; 0 if it has just ended, which also ends the job. */
  private async usedMs(): Promise<number> {
    const used = await this.thread()
      ?.cpuUsage()
      .catch(() => undefined);
    return used === undefined ? 0 : (used.user + used.system) / 1000;
  }
}
