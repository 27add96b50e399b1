/** The port of both kinds of threads: typed messages, logging, and test hooks. */
import type { MessagePort } from 'node:worker_threads';
import type { LogFields, Logger } from '../../shared/log.ts';
import type { Fault, FromWorker } from '../../shared/threads/messages.ts';
import { sentLogger } from '../../shared/threads/sent-logger.ts';

/** Sends a message to the control plane. */
export function announce(port: MessagePort, message: FromWorker): void {
  port.postMessage(message);
}

/** A logger that sends its lines to the control plane. */
export function portLogger(port: MessagePort, fields: LogFields = {}): Logger {
  return sentLogger((line) => announce(port, line), fields);
}

/** Test hook: injects the fault. */
export function causeFault(fault: Fault): void {
  const fail = (): never => {
    throw new Error(`deliberate failure: test hook ${fault}`);
  };
  if (fault === 'exit') process.exit(1);
  if (fault === 'throw' || fault === 'throw-in-event') fail();
  if (fault === 'throw-in-timer') setTimeout(fail, 0);
  if (fault === 'reject') void Promise.resolve().then(fail);
  while (fault === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
