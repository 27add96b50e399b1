/**
 * Frees rule tables that were replaced. A thread that allocates nothing would keep a table of many megabytes for hours,
 * since nothing triggers its collector. Without `--expose-gc` (unit tests) nothing happens.
 */
import { HeapGrowth, collectSoon } from '../../shared/threads/heap-growth.ts';

type Collect = (options?: { readonly type: 'minor' | 'major' }) => void;

function collect(type: 'minor' | 'major'): void {
  (globalThis as { gc?: Collect }).gc?.({ type });
}

/** Milliseconds from one look at the heap to the next. */
const LOOK_MS = 5000;

/** Collects replaced tables, and what else the thread does not need. */
export class ReplacedTables {
  /** True from the start, which leaves so much that the first short collection would not be short. */
  private hasRest = true;
  private readonly heap: Pick<HeapGrowth, 'look'>;
  /** By `performance.now()`. */
  private nextLookMs = performance.now() + LOOK_MS;

  /** A task beside the event loop would never end in a thread that has no event loop. */
  constructor(heap: Pick<HeapGrowth, 'look'> = new HeapGrowth({ collect: () => collect('major') })) {
    this.heap = heap;
  }

  /**
   * Call after a swap, in a thread that must not pause. The table is usually still among the young objects, so a short
   * collection (a third of a millisecond) finds it.
   */
  freeYoung(): void {
    this.hasRest = true;
    collect('minor');
  }

  /** Call when no client waits: frees what the short collections have missed, in milliseconds, and shrinks the heap. */
  freeRest(): void {
    if (this.hasRest) {
      this.hasRest = false;
      collect('major');
    }
    const nowMs = performance.now();
    if (nowMs < this.nextLookMs) return;
    this.nextLookMs = nowMs + LOOK_MS;
    this.heap.look();
  }

  /** Call after a swap, in a thread with an event loop. */
  freeSoon(): void {
    collectSoon();
  }
}
