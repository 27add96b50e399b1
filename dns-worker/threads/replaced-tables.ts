/**
 * Frees rule tables that were replaced. A thread that allocates nothing would keep a table of many megabytes for hours,
 * since nothing triggers its collector. Without `--expose-gc` (unit tests) nothing happens.
 */
import { collectSoon } from '../../shared/threads/heap-growth.ts';

type Collect = (options?: { readonly type: 'minor' | 'major' }) => void;

function collect(type: 'minor' | 'major'): void {
  (globalThis as { gc?: Collect }).gc?.({ type });
}

/** Collects replaced tables. */
export class ReplacedTables {
  /** True from the start, which leaves so much that the first short collection would not be short. */
  private hasRest = true;

  /**
   * Call after a swap, in a thread that must not pause. The table is usually still among the young objects, so a short
   * collection (a third of a millisecond) finds it.
   */
  freeYoung(): void {
    this.hasRest = true;
    collect('minor');
  }

  /** Call when no client waits: frees what the short collections have missed, in milliseconds. */
  freeRest(): void {
    if (!this.hasRest) return;
    this.hasRest = false;
    collect('major');
  }

  /** Call after a swap, in a thread with an event loop. */
  freeSoon(): void {
    collectSoon();
  }
}
