/**
 * Keeps the heap of a thread small: V8 lets it grow to 80 MiB before it collects for the first time, and keeps what it
 * once took. A thread that has little to do afterwards would have them for hours.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth after which the heap is collected, and after which it is in a quiet process: minutes apart in a home. */
const GROWTH_BYTES = 16 << 20;
const QUIET_GROWTH_BYTES = 4 << 20;
/** Memory that the heap takes and does not need, above which it is made smaller. */
const SPARE_BYTES = 12 << 20;
/** The same for the first time: what the start has left. */
const STARTS_SPARE_BYTES = 2 << 20;
/** Part of a core that a quiet process uses: on a busy core a pause of tens of milliseconds lasts a tenth of a second. */
const QUIET_SHARE = 0.05;
/** More than V8 lets memory outside its heap grow by before it begins to collect, 64 MiB. */
const BALLAST_BYTES = 96 << 20;

/** Bytes. */
export interface HeapSizes {
  /** In use, garbage too, with the memory outside of the heap that its objects hold. */
  readonly used: number;
  /** Bytes in use, including garbage. */
  readonly inHeap: number;
  /** Taken from the system for the heap. */
  readonly taken: number;
}

/** Heap to watch; by default that of the current thread. */
export interface HeapGrowthOptions {
  readonly sizes: () => HeapSizes;
  /** Part of the time since the last call that the thread worked. */
  readonly workedShare: () => number;
  /** Cores that the process used since the last call, all threads together. */
  readonly usedCores: () => number;
  /** Collects, soon and without a long pause. */
  readonly collect: () => void;
  /** Collects and gives back what is free; a pause of tens of milliseconds. */
  readonly shrink: () => void;
  /** The thread collects only if it worked less than this part of the time. */
  readonly mostShare: number;
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
      mostShare: 1,
      ...options,
    };
    const { used, inHeap } = this.options.sizes();
    this.leastUsed = used;
    this.leastInHeap = inHeap;
  }

  /** Call every few seconds: collects a heap that has grown, and makes it smaller once the process is quiet. */
  look(): void {
    const { sizes, workedShare, usedCores, mostShare } = this.options;
    const share = workedShare();
    const isQuiet = usedCores() < QUIET_SHARE;
    const { used, inHeap, taken } = sizes();
    this.leastUsed = Math.min(this.leastUsed, used);
    this.leastInHeap = Math.min(this.leastInHeap, inHeap);
    if (share > mostShare) return;
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
 * Has the collector go over the heap beside the event loop and in small steps, of 3 ms each instead of 20 ms in one.
 * Shared memory does not trigger it; other memory does, even if it is never touched and so costs nothing.
 */
export function collectSoon(): void {
  try {
    new ArrayBuffer(BALLAST_BYTES);
  } catch {
    collector()({ type: 'major' }); // The system does not promise that much.
  }
}

/** Moves what is alive together, so that whole pages become free. */
function shrinkNow(): void {
  collector()({ type: 'major', flavor: 'last-resort' });
}

type Collector = (options: { readonly type: 'major'; readonly flavor?: 'last-resort' }) => void;

/** V8's own function, which a thread has only if it began with the flag. */
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
