/**
 * Tells when garbage has piled up: V8 lets the heap of a thread grow to 80 MiB before it collects for the first time,
 * and a thread that has little to do afterwards keeps them for hours.
 */
import { getHeapStatistics } from 'node:v8';

/** Growth after which the heap is collected. */
const GROWTH_BYTES = 16 << 20;

/** Watches the heap of the thread that it is made in. */
export class HeapGrowth {
  private readonly collect: () => void;
  private readonly usedBytes: () => number;
  private leastBytes: number;

  /** `collect` frees what is not used, soon. */
  constructor(collect: () => void, usedBytes = (): number => getHeapStatistics().used_heap_size) {
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
