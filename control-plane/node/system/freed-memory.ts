/**
 * Returns memory to the system that was freed, but that the C library keeps: memory of fetched lists, compilations and
 * compressed blocks. After a compilation of a million rules, this is a fifth of the memory of the process.
 */
import { loadLibc } from '../../../shared/libc.ts';
import { HeapGrowth } from '../../../shared/threads/heap-growth.ts';
import { releaseProgramPages } from './program-pages.ts';

/**
 * Milliseconds between two releases; short, because the main thread is busy for longer the more there is to release.
 */
const RELEASE_EVERY_MS = 5000;
/** Milliseconds until a start is complete, including its first compilation. */
const STARTED_MS = 60_000;
/** Share of time above which the main thread counts as busy, so that garbage is collected only when necessary. */
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

/**
 * Returns a function that releases memory; null if the C library does not have one, like musl, or if it cannot be
 * called.
 */
export function findRelease(): (() => void) | null {
  const libc = loadLibc<MemoryCalls>({ malloc_trim: ['int', ['size_t']] });
  // Without the function, more memory stays in use, but nothing else changes.
  return 'calls' in libc ? () => void libc.calls.malloc_trim(0) : null;
}
