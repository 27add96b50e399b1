// Parts of a process's resident memory, from /proc.
import { readFileSync } from 'node:fs';

/** MiB each. */
export interface MemorySplit {
  rss: number;
  /** Heaps, stacks and the memory that threads share: this process's alone. */
  anonymous: number;
  /** Pages of programs and libraries, which other processes that run them share. */
  file: number;
  /** Shared memory segments and the like. */
  shared: number;
  /** RSS that divides shared pages among their processes; undefined if the kernel does not report it. */
  proportional: number | undefined;
}

/** Reads the split of a running process. */
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
    return ''; // another user's process, or a kernel before 4.14
  }
}
