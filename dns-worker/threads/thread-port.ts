/** The port of both kinds of thread: typed messages, logging, and test hooks. */
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from '../../shared/log.ts';
import type { Fault, FromWorker } from '../../shared/threads/messages.ts';

/** Sends a message to the control plane. */
export function announce(port: MessagePort, message: FromWorker): void {
  port.postMessage(message);
}

/** A logger whose lines the control plane writes. */
export function portLogger(port: MessagePort, fields: Readonly<Record<string, unknown>>): Logger {
  const log =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, more?: Readonly<Record<string, unknown>>): void => {
      announce(port, { type: 'log', level, message, fields: { ...fields, ...more } });
    };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (more) => portLogger(port, { ...fields, ...more }),
  };
}

/** Test hook: injects the fault. */
export function obeyFault(fault: Fault): void {
  const fail = (): never => {
    throw new Error(`fail on purpose: test hook ${fault}`);
  };
  if (fault === 'exit') process.exit(1);
  if (fault === 'throw' || fault === 'throw-in-event') fail();
  if (fault === 'throw-in-timer') setTimeout(fail, 0);
  if (fault === 'reject') void Promise.resolve().then(fail);
  while (fault === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
