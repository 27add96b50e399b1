/** Metrics of the process and its threads, with the usual names of Prometheus client libraries if there are any. */
import { LATENCY_CLASSES, latencyClass } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { TIME_BOUNDS } from './dns-families.ts';
import { type Family, family, type HistogramFamily, type Sample, single } from './family.ts';
import { THREAD_LABELS, type ThreadCounters } from './thread-counters.ts';
import { readThreadCpu } from './thread-cpu.ts';

/** Interval of the main loop's timer in milliseconds; not shorter, because each call wakes an idle process. */
const BEAT_MS = 250;
const MICROSECONDS = 1000;

/** Families of the process. A call also starts measuring the main loop, by a timer that fires four times per second. */
export function processFamilies(threads: readonly ThreadCounters[]): (Family | HistogramFamily)[] {
  return [
    single('gauge', 'process_start_time_seconds', 'When the process started, Unix time', () =>
      Math.round(performance.timeOrigin / 1000),
    ),
    single('counter', 'process_cpu_seconds_total', 'CPU time of all threads', cpuSecs),
    single('gauge', 'process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss()),
    family(
      'gauge',
      'weir_heap_bytes',
      "V8's heap of the main thread, and buffers outside of it",
      ['kind'],
      heap,
    ),
    family(
      'counter',
      'weir_thread_cpu_seconds_total',
      'CPU time by thread; main is the control plane, other are helper threads of V8, libuv and compilations. Linux only',
      THREAD_LABELS,
      readThreadCpu,
    ),
    mainLoopLag(),
    loopLag('lag_seconds', "Lag of a resolve thread's event loop timer", threads, Counter.LOOP_LAG_MS, 1000),
    loopLag(
      'beats',
      "Calls of a resolve thread's event loop timer, one per second",
      threads,
      Counter.LOOP_BEATS,
      1,
    ),
  ];
}

function cpuSecs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function heap(): Sample[] {
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  const kinds = { used: heapUsed, total: heapTotal, external, array_buffers: arrayBuffers };
  return Object.entries(kinds).map(([kind, value]) => ({ labels: { kind }, value }));
}

function mainLoopLag(): HistogramFamily {
  const counts = Array<number>(LATENCY_CLASSES).fill(0);
  let sumMs = 0;
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    const lateMs = Math.max(0, nowMs - lastMs - BEAT_MS);
    lastMs = nowMs;
    sumMs += lateMs;
    counts[latencyClass(lateMs * MICROSECONDS)]!++;
  }, BEAT_MS).unref();
  return {
    type: 'histogram',
    name: 'weir_main_event_loop_lag_seconds',
    help: "Lag of the control plane's event loop timer, four calls per second",
    bounds: TIME_BOUNDS,
    read: () => [{ labels: {}, counts, sum: sumMs / 1000 }],
  };
}

/** How late timers of an event loop are, because the loop is busy. Answer threads have no event loop. */
function loopLag(
  name: string,
  help: string,
  threads: readonly ThreadCounters[],
  slot: number,
  perUnit: number,
): Family {
  const resolving = threads.filter(({ role }) => role === 'resolve');
  const read = (): Sample[] =>
    resolving.map(({ labels, slots }) => ({ labels, value: slots[slot]! / perUnit }));
  return family('counter', `weir_event_loop_${name}_total`, help, THREAD_LABELS, read);
}
