/**
 * Test hooks: with WEIR_FAULT_INJECTION=1 the parent process can break a DNS thread over the IPC channel to see it
 * replaced, halt the control plane's thread permanently, and query counters and memory of the threads. Without the
 * switch, or without a channel, the hooks are absent.
 */
import { writeSync } from 'node:fs';
import { answeredWith } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import type { Fault, ThreadMeasures, ThreadRole } from '../../shared/threads/messages.ts';
import { LogRing, QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import type { WorkerSupervisor } from './supervisor.ts';

/** A request from a test. */
type TestRequest =
  | { readonly worker: number; readonly role: ThreadRole; readonly fault: Fault }
  /** Makes the thread of the query log crash. */
  | 'break-log'
  /** Halts the control plane's thread, as SIGSTOP does with a process. */
  | 'halt'
  /** Answered with a MeasureReply of the same number. */
  | { readonly measure: number };

/** A thread as seen by a test. */
export interface MeasuredThread {
  /** Slots of `shared/memory/counters.ts` by name, with statuses by their own names; they outlive the thread. */
  readonly counters: Readonly<Record<string, number>>;
  /** Log records dropped because the ring was full. */
  readonly logRecordsDropped: number;
  /** Null if there is no such thread, like the answer thread with the fallback backend. */
  readonly memory: ThreadMeasures | null;
}

/** Rows of the query log since the start, as its writer counts them. */
export interface MeasuredLog {
  readonly written: number;
  readonly spooled: number;
  readonly dropped: number;
  readonly waiting: number;
}

/** Reply to `measure`. */
export interface MeasureReply {
  readonly measure: number;
  readonly workers: readonly Readonly<Record<ThreadRole, MeasuredThread>>[];
  readonly log: MeasuredLog;
}

/** The part that brings log rows to the database. */
interface LogUnderTest {
  counters(): MeasuredLog;
  injectFault(): void;
}

/** Handles requests from the parent process from now on. */
export function serveFaultRequests(supervisor: WorkerSupervisor, log: LogUnderTest): void {
  // A killed test run must not leave a server behind.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.on('message', (request: TestRequest) => {
    if (request === 'halt') halt();
    else if (request === 'break-log') log.injectFault();
    else if ('fault' in request) supervisor.injectFault(request.worker, request.role, request.fault);
    else
      void measure(supervisor, request.measure).then((reply) =>
        process.send?.({ ...reply, log: log.counters() }),
      );
  });
}

function halt(): void {
  const STDOUT = 1;
  writeSync(STDOUT, 'the control plane halts\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function measure(supervisor: WorkerSupervisor, number: number): Promise<Omit<MeasureReply, 'log'>> {
  const heaps = await supervisor.measure();
  const workers = supervisor.memories().map((memory, index) => ({
    answer: measured(memory.answerCounters, memory.answerLog, heaps[index]?.answer),
    resolve: measured(memory.resolveCounters, memory.resolveLog, heaps[index]?.resolve),
  }));
  return { measure: number, workers };
}

function measured(
  counters: SharedArrayBuffer,
  log: SharedArrayBuffer,
  memory: ThreadMeasures | null | undefined,
): MeasuredThread {
  const slots = new Float64Array(counters);
  return {
    counters: Object.fromEntries([
      ...Object.entries(Counter).map(([name, slot]) => [name, slots[slot]!]),
      ...QUERY_STATUS_NAMES.map((name, status) => [`STATUS_${name}`, answeredWith(slots, status)]),
    ]) as Record<string, number>,
    logRecordsDropped:
      Atomics.load(new Int32Array(log, 0, LogRing.RECORDS_BYTE >>> 2), LogRing.DROPPED_WORD) >>> 0,
    memory: memory ?? null,
  };
}
