/**
 * Returns freed memory that the C library keeps to the system: memory of fetched lists, compilations and compressed
 * blocks. After a compilation of a million rules, this memory is a fifth of that of the process.
 */
import { loadLibc } from '../../../shared/libc.ts';
import { HeapGrowth } from '../../../shared/threads/heap-growth.ts';
import { releaseProgramPages } from './program-pages.ts';

/** Milliseconds between two releases; the more there is to release, the longer the main thread is busy. */
const RELEASE_EVERY_MS = 5000;
/** Milliseconds until a start is complete, including its first compilation. */
const STARTED_MS = 60_000;
/** Share of time above which the main thread counts as busy: then it collects its heap only when necessary. */
const BUSY_SHARE = 0.3;

interface MemoryCalls {
  malloc_trim(keptBytes: number): number;
}

/** Releases memory periodically, until the returned function is called. */
export function startReleasingMemory(): () => void {
  const release = findRelease();
  const heap = new HeapGrowth({ maxShare: BUSY_SHARE });
  const timer = setInterval(() => {
    heap.check();
    release?.();
  }, RELEASE_EVERY_MS).unref();
  const started = setTimeout(() => void releaseProgramPages(), STARTED_MS).unref();
  return () => {
    clearInterval(timer);
    clearTimeout(started);
  };
}

/** The C library's function; null if the library has none, like musl, or it cannot be called. */
export function findRelease(): (() => void) | null {
  const libc = loadLibc<MemoryCalls>({ malloc_trim: ['int', ['size_t']] });
  // Without the function, more memory stays in use, with no other effect.
  return 'calls' in libc ? () => void libc.calls.malloc_trim(0) : null;
}
