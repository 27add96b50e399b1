/**
 * Keeps the heap of a thread small: V8 lets it grow to 80 MiB before the first collection, and does not release memory
 * that it has allocated. A thread that then has little work would keep it for hours.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Growth after which the heap is collected, and the limit for a quiet process; in a home, collections are minutes
 * apart.
 */
const GROWTH_BYTES = 16 << 20;
const QUIET_GROWTH_BYTES = 4 << 20;
/** Unneeded memory of the heap above which it is shrunk. */
const SPARE_BYTES = 12 << 20;
/** The same for the first time, after the start. */
const STARTS_SPARE_BYTES = 2 << 20;
/** Maximum CPU usage of a quiet process: on a busy core, a pause of tens of milliseconds lasts a tenth of a second. */
const QUIET_SHARE = 0.05;
/** More than the 64 MiB by which V8 lets memory outside its heap grow before it starts to collect. */
const BALLAST_BYTES = 96 << 20;

/** Bytes. */
export interface HeapSizes {
  /** Bytes in use, including garbage and memory outside the heap that its objects own. */
  readonly used: number;
  /** Bytes in use, including garbage. */
  readonly inHeap: number;
  /** Allocated from the system for the heap. */
  readonly taken: number;
}

/** Heap to watch; by default that of the current thread. */
export interface HeapGrowthOptions {
  readonly sizes: () => HeapSizes;
  /** Share of the time since the last call in which the thread worked. */
  readonly workedShare: () => number;
  /** Cores that all threads of the process used since the last call. */
  readonly usedCores: () => number;
  /** Collects soon, without a long pause. */
  readonly collect: () => void;
  /** Collects and releases free memory; a pause of tens of milliseconds. */
  readonly shrink: () => void;
  /** The thread collects only if it worked less than this share of the time. */
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
 * Makes the collector work concurrently and in small steps, of 3 ms each instead of one of 20 ms. Shared memory does
 * not trigger it; other memory does, even if it is never touched and so costs nothing.
 */
export function collectSoon(): void {
  try {
    new ArrayBuffer(BALLAST_BYTES);
  } catch {
    collector()({ type: 'major' }); // The system does not guarantee that much memory.
  }
}

/** Moves live objects together, so that whole pages become free. */
function shrinkNow(): void {
  collector()({ type: 'major', flavor: 'last-resort' });
}

type Collector = (options: { readonly type: 'major'; readonly flavor?: 'last-resort' }) => void;

/** V8's own function, which a thread has only if it was started with the flag. */
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
