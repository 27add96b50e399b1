/**
 * Frees replaced rule tables. A thread that allocates nothing would keep a table of many megabytes for hours, since
 * nothing triggers its garbage collector. Without `--expose-gc` (in unit tests), the methods do nothing.
 */
import { HeapGrowth, collectSoon } from '../../shared/threads/heap-growth.ts';

type Collect = (options?: { readonly type: 'minor' | 'major' }) => void;

function collect(type: 'minor' | 'major'): void {
  (globalThis as { gc?: Collect }).gc?.({ type });
}

/** Milliseconds between two checks of the heap. */
const POLL_MS = 5000;

/** Collects replaced tables and other garbage of the thread. */
export class ReplacedTables {
  /**
   * Whether garbage may be left. True at first, because the start leaves so much garbage that the first short
   * collection after it would take long.
   */
  private hasRest = true;
  private readonly heap: Pick<HeapGrowth, 'check'>;
  /** Next check of the heap, by `performance.now()`. */
  private nextLookMs = performance.now() + POLL_MS;

  /**
   * By default collects synchronously: an asynchronous task would never end in a thread that does not run its event
   * loop.
   */
  constructor(heap: Pick<HeapGrowth, 'check'> = new HeapGrowth({ collect: () => collect('major') })) {
    this.heap = heap;
  }

  /**
   * Call after a swap, in a thread that must not pause. The table is usually still in the young generation, so a short
   * collection (a third of a millisecond) frees it.
   */
  freeYoung(): void {
    this.hasRest = true;
    collect('minor');
  }

  /**
   * Call when no client is waiting: frees what the short collections have missed, within milliseconds, and shrinks the
   * heap.
   */
  freeRest(): void {
    if (this.hasRest) {
      this.hasRest = false;
      collect('major');
    }
    const nowMs = performance.now();
    if (nowMs < this.nextLookMs) return;
    this.nextLookMs = nowMs + POLL_MS;
    this.heap.check();
  }

  /** Call after a swap, in a thread with an event loop. */
  freeSoon(): void {
    collectSoon();
  }
}
