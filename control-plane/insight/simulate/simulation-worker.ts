/**
 * The control plane's side of the thread of one simulation. The thread is started by its URL, and uses code of the DNS
 * threads.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type {
  FromSimulation,
  SimulatedChanges,
  SimulationOrder,
  SimulationStart,
} from '../../../shared/threads/simulation-messages.ts';
import { hasErrorCode } from '../../../shared/errors.ts';
import { overloaded } from '../../api/api-error.ts';

const ENTRY = new URL('../../../dns-worker/threads/simulation-thread.ts', import.meta.url);
/** JavaScript heap of the thread, in MiB; questions and tables are outside the heap. */
const HEAP_MIB = 160;
/** Size of the thread's young generation, which is small because each question creates few objects. */
const YOUNG_GENERATION_MIB = 8;
const RETRY_SECS = 30;

/** A thread that evaluates questions once. */
export class SimulationWorker {
  private readonly worker: Worker;
  private readonly signal: AbortSignal;
  private readonly ended = Promise.withResolvers<never>();
  private readonly stop = (): void => void this.end();

  /** Starts the thread, which ends when the signal is aborted. */
  constructor(start: SimulationStart, signal: AbortSignal) {
    this.signal = signal;
    this.worker = new Worker(ENTRY, {
      workerData: start,
      name: 'simulation',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    this.ended.promise.catch(() => undefined);
    this.worker.on('error', (error) => this.ended.reject(toFault(error)));
    this.worker.on('exit', () => this.ended.reject(new Error('the simulation thread ended unexpectedly')));
    signal.addEventListener('abort', this.stop, { once: true });
    if (signal.aborted) this.stop();
  }

  /** Resolves when both policies are ready; true if there are rules for addresses in answers. */
  async opened(): Promise<boolean> {
    const message = await this.next();
    return message.type === 'opened' && message.checksAddresses;
  }

  /** Evaluates the questions. */
  async simulate(order: SimulationOrder): Promise<SimulatedChanges> {
    const answer = this.next();
    this.worker.postMessage(order);
    const message = await answer;
    if (message.type !== 'simulated') throw new Error(`simulate: unexpected message ${message.type}`);
    return message.changes;
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    this.signal.removeEventListener('abort', this.stop);
    await this.worker.terminate();
  }

  private async next(): Promise<FromSimulation> {
    try {
      const message = once(this.worker, 'message') as Promise<[FromSimulation]>;
      message.catch(() => undefined);
      const [first] = await Promise.race([message, this.ended.promise]);
      return first;
    } catch (error) {
      this.signal.throwIfAborted();
      throw toFault(error);
    }
  }
}

function toFault(error: unknown): unknown {
  if (!hasErrorCode(error, 'ERR_WORKER_OUT_OF_MEMORY')) return error;
  return overloaded('the simulation exceeds its memory limit; use a shorter period', RETRY_SECS);
}
