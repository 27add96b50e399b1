/** Metrics of the process and its threads, under the names that Prometheus's own clients use where they have one. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter } from '../../shared/memory/counters.ts';
import { type Family, family, type Sample, single } from './family.ts';
import { THREAD_LABELS, type ThreadCounters } from './thread-counters.ts';
import { readThreadCpu } from './thread-cpu.ts';

/** How often the main thread's loop is looked at, milliseconds; Node measures the pauses between two looks. */
const LOOK_MS = 50;
const NANOSECONDS = 1e9;
const PERCENTILES = [50, 99, 100] as const;

/** Families of the process; measuring the main loop starts here, and costs 20 native timers a second. */
export function processFamilies(threads: readonly ThreadCounters[]): Family[] {
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
      'CPU time by thread; main is the control plane, other are helpers of V8, libuv and compiles. Linux only',
      THREAD_LABELS,
      readThreadCpu,
    ),
    family(
      'gauge',
      'weir_main_event_loop_lag_seconds',
      'Delay of the control plane since the last scrape; percentile 100 is the longest',
      ['percentile'],
      mainLoopLag(),
    ),
    loopLag(
      'lag_seconds',
      "By how much the beats of a resolve thread's loop were late",
      threads,
      Counter.LOOP_LAG_MS,
      1000,
    ),
    loopLag('beats', "Beats of a resolve thread's loop, one a second", threads, Counter.LOOP_BEATS, 1),
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

function mainLoopLag(): () => Sample[] {
  const delay = monitorEventLoopDelay({ resolution: LOOK_MS });
  delay.enable();
  return () => {
    const samples = PERCENTILES.map((percentile) => ({
      labels: { percentile: String(percentile) },
      value: lagSecs(delay.percentile(percentile)),
    }));
    delay.reset();
    return samples;
  };
}

/** The part of a pause that is more than the time between two looks; 0 where nothing was measured. */
function lagSecs(pauseNs: number): number {
  return Math.max(0, pauseNs / NANOSECONDS - LOOK_MS / 1000);
}

/** The beat of resolve threads is late by whatever their loop is busy with. Answer threads have no loop. */
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
