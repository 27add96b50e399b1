/** Time as a dependency: only this file reads the system's clocks, so that tests can control time. */

/** Reads the clocks. */
export interface Clock {
  /** Wall clock, in milliseconds since the Unix epoch. */
  nowMs(): number;
  /**
   * Monotonic clock in milliseconds with a fraction, the same in all threads; only differences are meaningful. Its
   * whole seconds fit in a signed 32-bit word. The clock may stop while the machine is suspended.
   */
  monotonicMs(): number;
  /** Monotonic clock that also runs while the machine is suspended, in milliseconds; absent = same as `monotonicMs`. */
  bootMs?(): number;
}

/** Milliseconds of a clock that neither jumps nor stops; only differences are meaningful. */
export function elapsedMs(clock: Clock): number {
  return clock.bootMs?.() ?? clock.monotonicMs();
}

/** Whole seconds since a node started, at `startedAtMs` of `monotonicMs()`. */
export function uptimeSecs({
  clock,
  startedAtMs,
}: {
  readonly clock: Clock;
  readonly startedAtMs: number;
}): number {
  return Math.floor((clock.monotonicMs() - startedAtMs) / 1000);
}

/**
 * Number of times that both clocks are read; the closest pair of readings is used, because a thread may be preempted
 * between two readings.
 */
const ORIGIN_READINGS = 16;

/**
 * The machine's monotonic clock at this thread's time origin, to which `performance.now` is added: this allocates less
 * than `hrtime`.
 */
const TIME_ORIGIN_MS = timeOriginMs();

/** The machine's clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => TIME_ORIGIN_MS + performance.now(),
};

function timeOriginMs(): number {
  let originMs = 0;
  let closestMs = Infinity;
  for (let reading = 0; reading < ORIGIN_READINGS; reading++) {
    const beforeMs = performance.now();
    const machineMs = Number(process.hrtime.bigint()) / 1e6;
    const afterMs = performance.now();
    if (afterMs - beforeMs >= closestMs) continue;
    closestMs = afterMs - beforeMs;
    originMs = machineMs - (beforeMs + afterMs) / 2;
  }
  return originMs;
}
