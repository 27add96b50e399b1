/**
 * Gives memory back to the system that the C library keeps after it was freed: of fetched lists, of compiles, of
 * compressed blocks. That is a fifth of the process after a compile of a million rules.
 */
import { loadLibc } from '../../../shared/libc.ts';
import { HeapGrowth } from '../../../shared/threads/heap-growth.ts';
import { releaseProgramPages } from './program-pages.ts';

/** Milliseconds between two releases; each takes the main thread the longer, the more there is to release. */
const RELEASE_EVERY_MS = 5000;
/** Milliseconds until a start is over, its first compile too. */
const STARTED_MS = 60_000;
/** Part of the time in which a busy main thread works: it collects its heap when it must, no sooner. */
const BUSY_SHARE = 0.3;

interface MemoryCalls {
  malloc_trim(keptBytes: number): number;
}

/** Releases from time to time, until the function that it returns is called. */
export function startReleasingMemory(): () => void {
  const release = findRelease();
  const heap = new HeapGrowth({ mostShare: BUSY_SHARE });
  const timer = setInterval(() => {
    heap.look();
    release?.();
  }, RELEASE_EVERY_MS).unref();
  const started = setTimeout(() => void releaseProgramPages(), STARTED_MS).unref();
  return () => {
    clearInterval(timer);
    clearTimeout(started);
  };
}

/** The C library's function; null if it has none, as in musl, or cannot be called. */
export function findRelease(): (() => void) | null {
  const libc = loadLibc<MemoryCalls>({ malloc_trim: ['int', ['size_t']] });
  // Without it memory stays larger, nothing else.
  return 'calls' in libc ? () => void libc.calls.malloc_trim(0) : null;
}
