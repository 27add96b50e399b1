/**
 * The control plane's side of one DNS thread: starts it by its URL, exchanges typed messages, and reports its end.
 * `supervisor.ts` replaces threads that have died.
 */
import { closeSync, writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import {
  type FromWorker,
  type ThreadMeasures,
  type ThreadStart,
  type ToWorker,
  WorkerControl,
} from '../../shared/threads/messages.ts';
import { Heartbeat } from './heartbeat.ts';

/** Callbacks for a thread's owner. */
export interface DnsThreadEvents {
  /** Called for every message. */
  message(thread: DnsThread, message: FromWorker): void;
  /** Called once when the thread has ended; `cause` is its error, if known. */
  ended(thread: DnsThread, exitCode: number, cause: Error | undefined): void;
}

const ENTRY = new URL('../../dns-worker/threads/thread.ts', import.meta.url);
/**
 * Maximum young generation of a DNS thread in MiB: small, because the hot path allocates nothing, and forwarding only
 * little.
 */
const YOUNG_GENERATION_MIB = 8;
// Provides `gc()` in the threads, because they allocate so little that an old snapshot would never be
// garbage-collected.
setFlagsFromString('--expose-gc');

const EVENTFD_ONE = Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0]);

/** A running DNS thread. */
export class DnsThread {
  readonly start: ThreadStart;
  /** Versions of the snapshot and the settings that the thread uses; -1 until it has confirmed one. */
  readonly active = { snapshot: -1, settings: -1 };
  /** Backend of the thread's sockets; null until the thread is ready. */
  backend: 'batch' | 'dgram' | null = null;
  /** For tests: the thread's response to the last `measure`; null until it arrives. */
  measures: ThreadMeasures | null = null;
  ended = false;
  /** Whether the thread is finishing its pending answers and will then end. */
  isDraining = false;
  /** Whether the thread is drained permanently: no other thread will use its sockets. */
  private isLast = false;
  private readonly worker: Worker;
  private readonly control: Int32Array;
  private readonly heartbeat: Heartbeat;

  constructor(start: ThreadStart, events: DnsThreadEvents) {
    this.start = start;
    this.control = new Int32Array(start.memory.control);
    const name = `dns-${start.role}-${String(start.worker)}`;
    this.heartbeat = new Heartbeat(name);
    this.worker = new Worker(ENTRY, {
      workerData: start,
      name,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    let cause: Error | undefined;
    this.worker.on('message', (message: FromWorker) => {
      if (message.type === 'ready') this.backend = message.backend;
      if (message.type === 'snapshot-active') this.active.snapshot = message.version;
      if (message.type === 'settings-active') this.active.settings = message.version;
      if (message.type === 'measures') this.measures = message.measures;
      events.message(this, message);
    });
    this.worker.on('error', (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.worker.on('exit', (exitCode) => {
      this.ended = true;
      if (this.isLast && this.start.role === 'answer') this.closeWakeFd();
      events.ended(this, exitCode, cause);
    });
  }

  /** Sends a message and wakes the thread if it sleeps in the kernel. */
  post(message: ToWorker): void {
    this.worker.postMessage(message);
    if (this.start.role !== 'answer') return;
    Atomics.add(this.control, WorkerControl.MESSAGES_WORD, 1);
    const wakeFd = Atomics.load(this.control, WorkerControl.WAKE_FD_WORD);
    if (wakeFd !== 0 && Atomics.load(this.control, WorkerControl.ANSWER_ASLEEP_WORD) === 1)
      writeSync(wakeFd, EVENTFD_ONE);
  }

  /** Makes the thread finish its pending answers and end; see the message `drain`. */
  drain(keepSockets: boolean, withinMs: number): void {
    this.isDraining = true;
    this.isLast = !keepSockets;
    this.post({ type: 'drain', keepSockets, withinMs });
  }

  /**
   * Closes the descriptor here and not in the thread, because `post` might then write to a file that has got the same
   * descriptor number.
   */
  private closeWakeFd(): void {
    const wakeFd = Atomics.exchange(this.control, WorkerControl.WAKE_FD_WORD, 0);
    if (wakeFd !== 0) closeSync(wakeFd);
  }

  /** Whether the thread has begun to hang, see `Heartbeat`. */
  startsToHang(): boolean {
    const word =
      this.start.role === 'answer' ? WorkerControl.ANSWER_BEAT_WORD : WorkerControl.RESOLVE_BEAT_WORD;
    return this.heartbeat.startsToHang(Atomics.load(this.control, word));
  }

  /** Terminates the thread immediately. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
  }
}
