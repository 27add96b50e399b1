/**
 * Descriptors belong to the process: the sockets to servers that an answer thread had open when it died are closed by its
 * successor. The kernel lists them (proc_pid_fdinfo(5)), so only the descriptor that waits for them is noted.
 */
import { readFileSync } from 'node:fs';
import { WorkerControl } from '../../shared/threads/messages.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';

/** Notes the epoll descriptor that waits for all sockets; 0 = there is none any more. */
export function noteTries(control: Int32Array, epoll: number): void {
  Atomics.store(control, WorkerControl.TRIES_FD_WORD, Math.max(0, epoll));
}

/** Closes what a predecessor has left. */
export function closeLeftSockets(calls: NativeCalls, control: Int32Array): void {
  const epoll = Atomics.exchange(control, WorkerControl.TRIES_FD_WORD, 0);
  if (epoll === 0) return;
  for (const fd of waitedForBy(epoll)) calls.close(fd);
  calls.close(epoll);
}

function waitedForBy(epoll: number): number[] {
  try {
    const lines = readFileSync(`/proc/self/fdinfo/${String(epoll)}`, 'utf8');
    return [...lines.matchAll(/^tfd:\s*(\d+)/gm)].map(([, fd]) => Number(fd));
  } catch {
    // Without /proc they stay open: worse would be a thread that does not start.
    return [];
  }
}
