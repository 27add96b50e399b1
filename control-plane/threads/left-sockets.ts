/**
 * Closes the sockets to upstream servers that a dead answer thread has left open, because descriptors belong to the
 * process. The thread only records the epoll descriptor that watches all these sockets; the kernel lists the sockets of
 * that descriptor (proc_pid_fdinfo(5)).
 */
import { closeSync, readFileSync } from 'node:fs';
import { WorkerControl, type WorkerMemory } from '../../shared/threads/messages.ts';

/** Closes the sockets; call this before the thread is replaced. Without procfs, they stay open. */
export function closeLeftSockets({ control }: WorkerMemory): void {
  const epoll = Atomics.exchange(new Int32Array(control), WorkerControl.TRIES_FD_WORD, 0);
  if (epoll === 0) return;
  for (const fd of waitedForBy(epoll)) closeSync(fd);
  closeSync(epoll);
}

function waitedForBy(epoll: number): number[] {
  try {
    const lines = readFileSync(`/proc/self/fdinfo/${String(epoll)}`, 'utf8');
    return [...lines.matchAll(/^tfd:\s*(\d+)/gm)].map(([, fd]) => Number(fd));
  } catch {
    return [];
  }
}
