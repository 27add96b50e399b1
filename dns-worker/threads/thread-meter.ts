/** Test hook: heap statistics of a thread, even of one that never runs its event loop. */
import { GCProfiler, getHeapStatistics } from 'node:v8';
import type { ThreadMeasures } from '../../shared/threads/messages.ts';

/** Reads the heap statistics of its thread; costs nothing until it is used. */
export class ThreadMeter {
  private profiler: GCProfiler | undefined;

  /** Current statistics, with the collections since the last call; the first call returns no collections. */
  read(): ThreadMeasures {
    const collected = this.profiler?.stop();
    const { total_allocated_bytes: allocatedBytes, used_heap_size: usedHeapBytes } = getHeapStatistics();
    this.profiler = new GCProfiler();
    this.profiler.start();
    // The profiler reports microseconds.
    const collections = collected?.statistics.map(({ gcType, cost }) => ({
      kind: gcType,
      pauseMs: cost / 1000,
    }));
    return { allocatedBytes, usedHeapBytes, collections: collections ?? [] };
  }
}
