/**
 * Tells when garbage has piled up: V8 lets the heap of a thread grow to 80 MiB before it collects for the first time,
 * and a thread that has little to do afterwards keeps them for hours.
 */
import { getHeapStatistics } from 'node:v8';

/** Growth after which the heap is collected. */
const GROWTH_BYTES = 16 << 20;
/** More than V8 lets memory outside its heap grow by before it begins to collect, 64 MiB. */
const BALLAST_BYTES = 96 << 20;

/** Watches the heap of the thread that it is made in. */
export class HeapGrowth {
  private readonly collect: () => void;
  private readonly usedBytes: () => number;
  private leastBytes: number;

  constructor(collect: () => void = collectSoon, usedBytes: () => number = ownUsedBytes) {
    this.collect = collect;
    this.usedBytes = usedBytes;
    this.leastBytes = usedBytes();
  }

  /** Call from time to time: collects when the heap has grown. */
  look(): void {
    const bytes = this.usedBytes();
    if (bytes < this.leastBytes) this.leastBytes = bytes;
    if (bytes < this.leastBytes + GROWTH_BYTES) return;
    this.leastBytes = bytes;
    this.collect();
  }
}

/**
 * Has the collector go over the heap beside the event loop and in small steps, of 3 ms each instead of 20 ms in one.
 * Shared memory does not trigger it; other memory does, even if it is never touched and so costs nothing.
 */
export function collectSoon(): void {
  try {
    new ArrayBuffer(BALLAST_BYTES);
  } catch {
    // The system does not promise that much.
    (globalThis as { gc?: (options: { readonly type: 'major' }) => void }).gc?.({ type: 'major' });
  }
}

/** The heap, and the memory outside it that objects of the heap hold. */
function ownUsedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}
