/** The limits of one input: a second of CPU time, 256 MiB of memory. Only slow inputs are measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * An input that takes longer than this, or leaves more memory allocated, is run again and measured, which takes a third
 * of a second. Uses CPU time, because on a busy machine every tenth run takes long by the clock.
 */
const SUSPECT_CPU_MS = 400;
const SUSPECT_MIB = 128;
/** CPU time below which no input takes much memory. */
const QUICK_CPU_MS = 20;
const MAX_CPU_MS = 1000;
const MAX_MIB = 256;
/** Number of measured runs. The lowest values count, because a run may include garbage collection for earlier runs. */
const MEASURED_RUNS = 3;

/** The finding that an input exceeds a limit. */
export interface Excess {
  readonly key: string;
  readonly text: string;
}

/** Checks runs against the limits. */
export interface Limits {
  /** Marks the start of a run. */
  begin(): void;
  /** CPU time of the last run, milliseconds. */
  takenMs(): number;
  /** Null if the last run was within the limits; `again` runs its input once more. */
  exceeded(again: () => void | Promise<void>): Excess | null | Promise<Excess | null>;
}

/** Stub for runs without measurements. */
export const NO_LIMITS: Limits = { begin: () => undefined, takenMs: () => 0, exceeded: () => null };

/** The limits, measured for the whole process, which must run only this search. */
export function processLimits(): Limits {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let begunMs = 0;
  let takenMs = 0;
  let usualMib = residentMib('VmRSS');
  return {
    begin: () => {
      begunMs = cpuMs();
    },
    takenMs: () => takenMs,
    exceeded: (again) => {
      takenMs = cpuMs() - begunMs;
      if (takenMs < QUICK_CPU_MS) return null;
      const mib = residentMib('VmRSS');
      const isGreedy = mib - usualMib > SUSPECT_MIB;
      usualMib = mib;
      return takenMs < SUSPECT_CPU_MS && !isGreedy ? null : measured(collect, again);
    },
  };
}

/** CPU time of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function measured(collect: () => void, again: () => void | Promise<void>): Promise<Excess | null> {
  let leastMs = Infinity;
  let leastMib = Infinity;
  for (let i = 0; i < MEASURED_RUNS; i++) {
    collect();
    const before = residentMib('VmRSS');
    // Resets the peak, so that it is the peak of this run only.
    writeFileSync('/proc/self/clear_refs', '5');
    const startedMs = cpuMs();
    await again();
    leastMs = Math.min(leastMs, cpuMs() - startedMs);
    leastMib = Math.min(leastMib, residentMib('VmHWM') - before);
    if (leastMs <= MAX_CPU_MS && leastMib <= MAX_MIB) return null;
  }
  if (leastMs > MAX_CPU_MS) return { key: 'limit of time', text: `takes ${leastMs.toFixed(0)} ms` };
  return { key: 'limit of memory', text: `takes ${leastMib.toFixed(0)} MiB` };
}

/** A field of the process's own status, MiB. */
function residentMib(row: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`${row}:\\s+(\\d+) kB`, 'u').exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(found?.[1] ?? 0) / 1024;
}
