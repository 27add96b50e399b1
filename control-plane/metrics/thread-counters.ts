/** The counters of all DNS threads, by worker and kind of thread. */
import type { ThreadRole, WorkerMemory } from '../../shared/threads/messages.ts';
import { LogRing } from '../../shared/query-log.ts';
import type { Labels } from './family.ts';

/** One thread's counters, with the labels that identify it. */
export interface ThreadCounters {
  readonly role: ThreadRole;
  readonly labels: Labels;
  /** Slots of `shared/memory/counters.ts`. */
  readonly slots: Float64Array;
  /** Head of the thread's log ring. */
  readonly log: Int32Array;
}

/** Names of the labels that identify a thread. */
export const THREAD_LABELS = ['thread', 'worker'] as const;

/** The labels of a thread. */
export function threadLabels(thread: string, worker = ''): Labels {
  return { thread, worker };
}

/** Views of all threads' counters; they stay valid when a thread is replaced. */
export function threadCounters(memories: readonly WorkerMemory[]): ThreadCounters[] {
  return memories.flatMap((memory, index) => [
    threadOf('answer', index, memory.answerCounters, memory.answerLog),
    threadOf('resolve', index, memory.resolveCounters, memory.resolveLog),
  ]);
}

function threadOf(
  role: ThreadRole,
  worker: number,
  counters: SharedArrayBuffer,
  log: SharedArrayBuffer,
): ThreadCounters {
  return {
    role,
    labels: threadLabels(role, String(worker)),
    slots: new Float64Array(counters),
    log: new Int32Array(log, 0, LogRing.RECORDS_BYTE >>> 2),
  };
}
