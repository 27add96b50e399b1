/**
 * For tests: with WEIR_FAULT_INJECTION=1, the parent process can use the IPC channel to break a DNS thread and check
 * that it is replaced, to halt the thread of the control plane permanently, and to query counters and memory of the
 * threads. Without this variable, or without an IPC channel, none of this is possible.
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
  /** Makes the log thread crash. */
  | 'break-log'
  /** Halts the thread of the control plane, as SIGSTOP halts a process. */
  | 'halt'
  /** The reply is a MeasureReply with the same number. */
  | { readonly measure: number };

/** Data about a thread for a test. */
export interface MeasuredThread {
  /** Slots of `shared/memory/counters.ts` and of statuses, by name. They remain if the thread dies. */
  readonly counters: Readonly<Record<string, number>>;
  /** Number of log records dropped because the ring was full. */
  readonly logRecordsDropped: number;
  /** Null if the thread does not exist, like the answer thread with the fallback backend. */
  readonly memory: ThreadMeasures | null;
}

/** Numbers of rows of the query log since the start, as counted by its writer. */
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

/** The methods of the log thread that tests use. */
interface LogUnderTest {
  counters(): MeasuredLog;
  injectFault(): void;
}

/** Starts handling requests from the parent process. */
export function serveFaultRequests(supervisor: WorkerSupervisor, log: LogUnderTest): void {
  // Ends the server if the test run is killed.
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
