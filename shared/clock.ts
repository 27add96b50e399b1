/** Time as a dependency: the only place that reads the system's clocks, so that tests can steer time. */

/** Reads of the two clocks. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. */
  nowMs(): number;
  /**
   * Monotonic clock in milliseconds with a fraction, the same in all threads; only differences mean anything. Whole
   * seconds of it fit in a signed word. It may stand still while the machine sleeps.
   */
  monotonicMs(): number;
}

/** The machine's monotonic clock at this thread's time origin: `performance.now` allocates less than `hrtime`. */
const TIME_ORIGIN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The machine's clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => TIME_ORIGIN_MS + performance.now(),
};
