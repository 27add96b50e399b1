/**
 * Entry point of every DNS thread. A worker is a pair: the answer thread blocks on the sockets and answers from policy
 * and cache (`answer-thread.ts`); the resolve thread does everything that waits (`resolve-thread.ts`).
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadStart } from '../../shared/threads/messages.ts';
import { ListenError } from '../listeners/listen-error.ts';
import { loadNativeCalls } from '../listeners/native-calls.ts';
import { announce, portLogger } from './thread-port.ts';

const start = workerData as ThreadStart;
const port = parentPort;
if (port === null) throw new Error('could not start a DNS thread: this file runs only as a worker thread');

const native =
  start.given.settings.udpBackend === 'dgram' ? { reason: 'set in the configuration' } : loadNativeCalls();
const calls = 'calls' in native ? native.calls : null;

try {
  if (start.role === 'resolve') {
    if ('reason' in native && start.worker === 0)
      portLogger(port).warn('using node:dgram: batched sockets are not available', {
        reason: native.reason,
      });
    // The answer thread does not load this code.
    announce(port, { type: 'starting', backend: calls === null ? 'dgram' : 'batch' });
    const { runResolveThread } = await import('./resolve-thread.ts');
    await runResolveThread(start, port, calls);
  } else if (calls !== null) {
    const { runAnswerThread } = await import('./answer-thread.ts');
    runAnswerThread(start, port, calls);
  }
} catch (error) {
  if (!(error instanceof ListenError)) throw error;
  announce(port, { type: 'listen-failed', address: error.address, port: error.port, code: error.code });
}
