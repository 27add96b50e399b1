/** Test hook: what a thread's heap has been through. Works in a thread that never sees its event loop, too. */
import { GCProfiler, getHeapStatistics } from 'node:v8';
import type { ThreadMeasures } from '../../shared/threads/messages.ts';

/** Reads the heap of the thread it is made in; costs nothing until it is asked. */
export class ThreadMeter {
  private profiler: GCProfiler | undefined;

  /** What has happened so far; collections since the last call, none at the first. */
  read(): ThreadMeasures {
    const collected = this.profiler?.stop();
    const { total_allocated_bytes: allocatedBytes, used_heap_size: usedHeapBytes } = getHeapStatistics();
    this.profiler = new GCProfiler();
    this.profiler.start();
    // The profiler counts microseconds.
    const collections = collected?.statistics.map(({ gcType, cost }) => ({
      kind: gcType,
      pauseMs: cost / 1000,
    }));
    return { allocatedBytes, usedHeapBytes, collections: collections ?? [] };
  }
}
