/**
 * Unmaps the pages of Node.js's program file that the start has used: 60 MiB, of which half is needed again and is then
 * read from the page cache. If memory is short, the kernel first evicts pages that no process has mapped.
 */
import { readFile, readlink } from 'node:fs/promises';
import { loadLibc } from '../../../shared/libc.ts';

/** A memory mapping of the process. */
interface Mapping {
  readonly address: number;
  readonly bytes: number;
}

interface AdviceCalls {
  madvise(address: number, bytes: number, advice: number): number;
}

const MADV_DONTNEED = 4;
const HEAD = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+\s*(.*)$/;

/**
 * The mappings of a file in the text of `/proc/PID/smaps` that contain only data of the file: mappings that are not
 * writable and have no changed pages. (The dynamic linker changes some pages before it makes them read-only.).
 */
export function unchangedMappings(smaps: string, file: string): Mapping[] {
  const found: Mapping[] = [];
  let last: Mapping | null = null;
  for (const line of smaps.split('\n')) {
    const head = HEAD.exec(line);
    if (head !== null) {
      const [, from = '', to = '', rights = '', path] = head;
      const address = Number.parseInt(from, 16);
      const isWanted = path === file && !rights.includes('w');
      last = isWanted ? { address, bytes: Number.parseInt(to, 16) - address } : null;
    } else if (last !== null && /^Anonymous: +0 kB$/.test(line)) {
      found.push(last);
    }
  }
  return found;
}

/**
 * Unmaps the unchanged pages of the program; resolves with the size of their mappings in bytes, or 0 if this is not
 * possible here.
 */
export async function releaseProgramPages(): Promise<number> {
  const libc = loadLibc<AdviceCalls>({ madvise: ['int', ['uintptr_t', 'size_t', 'int']] });
  if ('reason' in libc) return 0;
  const read = Promise.all([readFile('/proc/self/smaps', 'utf8'), readlink('/proc/self/exe')]);
  const [smaps, program] = await read.catch(() => ['', '']); // Ignored: procfs is not available.
  let released = 0;
  for (const { address, bytes } of unchangedMappings(smaps, program))
    if (libc.calls.madvise(address, bytes, MADV_DONTNEED) === 0) released += bytes;
  return released;
}
