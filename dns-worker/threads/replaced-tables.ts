/**
 * Frees rule tables that were replaced. A thread that allocates nothing would keep a table of many megabytes
 * for hours, as its collector has no reason to come. Without `--expose-gc` (unit tests) nothing happens.
 */

type Collect = (options?: { readonly type: 'minor' | 'major' }) => void;

function collect(type: 'minor' | 'major'): void {
  (globalThis as { gc?: Collect }).gc?.({ type });
}

/** More than V8 lets memory outside its heap grow by before it begins to collect, 64 MiB. */
const BALLAST_BYTES = 96 << 20;

/** What a thread does about the tables that it has replaced. */
export class ReplacedTables {
  /** True from the start, which leaves so much that the first short collection would not be short. */
  private hasRest = true;

  /**
   * Call after a swap, in a thread that must not pause. A table that nothing has survived with is still among
   * the young objects, so the short collection (a third of a millisecond) finds it.
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

  /**
   * Call after a swap, in a thread with an event loop: the collector goes over the heap beside it and in small steps,
   * of 3 ms each instead of 20 ms in one. Shared memory does not make it begin, other memory does, also where no one
   * ever touches it and it costs nothing.
   */
  freeSoon(): void {
    try {
      new ArrayBuffer(BALLAST_BYTES);
    } catch {
      collect('major'); // The system does not promise that much.
    }
  }
}
