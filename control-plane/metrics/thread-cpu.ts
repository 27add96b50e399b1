/** CPU time of the threads of this process, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Sample } from './family.ts';
import { threadLabels } from './thread-counters.ts';

const THREADS = '/proc/self/task';
/** Names that `dns-thread.ts` assigns; they are short, because the kernel only keeps 15 bytes. */
const DNS_THREAD = /^dns-(answer|resolve)-(\d+)$/;
const NANOSECONDS = 1e9;

/**
 * CPU seconds of the main thread, of each DNS thread, and of all other threads together; empty on systems other than
 * Linux.
 */
export function readThreadCpu(): Sample[] {
  if (process.platform !== 'linux') return [];
  const sums = new Map<string, Sample>();
  for (const id of readdirSync(THREADS)) {
    const thread = readThread(id);
    if (thread === null) continue;
    const key = Object.values(thread.labels).join(' ');
    sums.set(key, { labels: thread.labels, value: (sums.get(key)?.value ?? 0) + thread.value });
  }
  return [...sums.values()];
}

/** CPU time of a thread; null if the thread has just ended. */
function readThread(id: string): Sample | null {
  try {
    const name = readFileSync(`${THREADS}/${id}/comm`, 'utf8').trim();
    const cpuNs = Number(readFileSync(`${THREADS}/${id}/schedstat`, 'utf8').split(' ')[0]);
    return { labels: labelsOf(id, name), value: cpuNs / NANOSECONDS };
  } catch {
    return null;
  }
}

function labelsOf(id: string, name: string): Sample['labels'] {
  const [, role, worker] = DNS_THREAD.exec(name) ?? [];
  if (role !== undefined) return threadLabels(role, worker);
  return threadLabels(Number(id) === process.pid ? 'main' : 'other');
}
