/**
 * Keeps the heap of a thread small: V8 lets the heap grow to 80 MiB before the first collection, and does not return
 * this memory to the system. A thread that then has little work would keep this memory for hours.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Growth after which the heap is collected: in general, and in a quiet process, as in a home network, where collections
 * are then minutes apart.
 */
const GROWTH_BYTES = 16 << 20;
const QUIET_GROWTH_BYTES = 4 << 20;
/** Unused memory in the heap above which the heap is shrunk. */
const SPARE_BYTES = 12 << 20;
/** Same as `SPARE_BYTES`, for the first time after the start. */
const STARTS_SPARE_BYTES = 2 << 20;
/**
 * Maximum CPU usage of a process that counts as quiet: shrinking pauses a thread for tens of milliseconds, which a busy
 * core would extend to a tenth of a second.
 */
const QUIET_SHARE = 0.05;
/**
 * Size of the memory whose allocation triggers a collection: more than the 64 MiB by which memory outside the heap may
 * grow before V8 collects.
 */
const BALLAST_BYTES = 96 << 20;

/** Sizes in bytes. */
export interface HeapSizes {
  /** Memory in use, including garbage and memory outside the heap that belongs to objects in it. */
  readonly used: number;
  /** Memory in use in the heap, including garbage. */
  readonly inHeap: number;
  /** Memory that the heap has allocated from the system. */
  readonly taken: number;
}

/** Measurements and actions for a heap; by default those of the current thread. */
export interface HeapGrowthOptions {
  readonly sizes: () => HeapSizes;
  /** Share of the time since the last call in which the thread worked. */
  readonly workedShare: () => number;
  /** Cores that all threads of the process used since the last call. */
  readonly usedCores: () => number;
  /** Collects soon, without a long pause. */
  readonly collect: () => void;
  /** Collects and releases free memory, with a pause of tens of milliseconds. */
  readonly shrink: () => void;
  /** Maximum share of the time that the thread may have worked if a collection is to start. */
  readonly maxShare: number;
}

/** Watches a heap. */
export class HeapGrowth {
  private readonly options: HeapGrowthOptions;
  private leastUsed: number;
  private leastInHeap: number;
  /** Size of the heap when it was last shrunk. */
  private shrunkTo = 0;

  constructor(options: Partial<HeapGrowthOptions> = {}) {
    this.options = {
      sizes: ownSizes,
      workedShare: ownShare(),
      usedCores: processCores(),
      collect: collectSoon,
      shrink: shrinkNow,
      maxShare: 1,
      ...options,
    };
    const { used, inHeap } = this.options.sizes();
    this.leastUsed = used;
    this.leastInHeap = inHeap;
  }

  /** Call every few seconds: collects a heap that has grown, and shrinks it when the process is quiet. */
  check(): void {
    const { sizes, workedShare, usedCores, maxShare } = this.options;
    const share = workedShare();
    const isQuiet = usedCores() < QUIET_SHARE;
    const { used, inHeap, taken } = sizes();
    this.leastUsed = Math.min(this.leastUsed, used);
    this.leastInHeap = Math.min(this.leastInHeap, inHeap);
    if (share > maxShare) return;
    const spare = this.shrunkTo === 0 ? STARTS_SPARE_BYTES : SPARE_BYTES;
    if (isQuiet && taken - Math.max(this.leastInHeap, this.shrunkTo) > spare) this.shrink();
    else if (used >= this.leastUsed + (isQuiet ? QUIET_GROWTH_BYTES : GROWTH_BYTES)) this.collect(used);
  }

  private collect(used: number): void {
    this.leastUsed = used;
    this.options.collect();
  }

  private shrink(): void {
    this.options.shrink();
    const { used, inHeap, taken } = this.options.sizes();
    this.leastUsed = used;
    this.leastInHeap = inHeap;
    this.shrunkTo = taken;
  }
}

/**
 * Makes the collector run concurrently in small steps of 3 ms, instead of one step of 20 ms, by allocating memory. A
 * large allocation outside the heap triggers the collector, and costs nothing if it is never written; shared memory
 * does not trigger it.
 */
export function collectSoon(): void {
  try {
    new ArrayBuffer(BALLAST_BYTES);
  } catch {
    collector()({ type: 'major' }); // The system may refuse to allocate so much memory.
  }
}

/** Moves live objects together, so that whole pages become free. */
function shrinkNow(): void {
  collector()({ type: 'major', flavor: 'last-resort' });
}

type Collector = (options: { readonly type: 'major'; readonly flavor?: 'last-resort' }) => void;

/** V8's function `gc`, which a thread has only if it was started with `--expose-gc`. */
function collector(): Collector {
  const own = (globalThis as { gc?: Collector }).gc;
  if (own !== undefined) return own;
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collector;
}

function ownSizes(): HeapSizes {
  const { used_heap_size: inHeap, external_memory, total_physical_size: taken } = getHeapStatistics();
  return { used: inHeap + external_memory, inHeap, taken };
}

function processCores(): () => number {
  let [before, atMs] = [process.cpuUsage(), performance.now()];
  return () => {
    const nowMs = performance.now();
    const { user, system } = process.cpuUsage(before);
    const cores = (user + system) / 1000 / Math.max(1, nowMs - atMs);
    [before, atMs] = [process.cpuUsage(), nowMs];
    return cores;
  };
}

function ownShare(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
