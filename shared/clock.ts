/** Time as a dependency: the only place that reads the system's clocks, so that tests can steer time. */

/** Reads of the two clocks. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Monotonic clock in milliseconds with a fraction, the same in all threads; only differences mean anything. */
  monotonicMs(): number;
}

/** Read once: the getter checks its receiver each time, and allocates for it. */
const TIME_ORIGIN_MS = performance.timeOrigin;

/** The machine's clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => TIME_ORIGIN_MS + performance.now(),
};
