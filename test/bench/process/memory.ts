// Components of a process's resident memory, from /proc.
import { readFileSync } from 'node:fs';

/** Components of the resident memory in MiB. */
export interface MemorySplit {
  rss: number;
  /** Heaps, stacks and memory shared by threads: private to this process. */
  anonymous: number;
  /** Pages of programs and libraries, shared with other processes that run them. */
  file: number;
  /** Shared memory, such as shared memory segments and tmpfs files. */
  shared: number;
  /** RSS in which shared pages are divided among their processes; undefined if the kernel does not report it. */
  proportional: number | undefined;
}

/** Reads the components of a running process. */
export function readMemorySplit(pid: number): MemorySplit {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (text: string, key: string): number | undefined => {
    const found = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text);
    return found === null ? undefined : Number(found[1]) / 1024;
  };
  return {
    rss: mib(status, 'VmRSS') ?? NaN,
    anonymous: mib(status, 'RssAnon') ?? NaN,
    file: mib(status, 'RssFile') ?? NaN,
    shared: mib(status, 'RssShmem') ?? NaN,
    proportional: mib(rollup(pid), 'Pss'),
  };
}

function rollup(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  } catch {
    return ''; // The process belongs to another user, or the kernel is older than 4.14.
  }
}
