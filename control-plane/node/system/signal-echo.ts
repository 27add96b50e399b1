/** Recognises a signal that arrives twice for one Ctrl+C, from the terminal and from npm. */
import type { Clock } from '../../../shared/clock.ts';

/**
 * Milliseconds within which a second signal is a repetition: npm forwards the signal faster than that, and users need
 * longer to press Ctrl+C again.
 */
const ECHO_MS = 250;

/** Detects repetitions of the first signal. */
export class SignalEcho {
  private readonly clock: Clock;
  private first: { readonly signal: NodeJS.Signals; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether this signal repeats the first one. */
  isEcho(signal: NodeJS.Signals): boolean {
    const nowMs = this.clock.monotonicMs();
    if (this.first === undefined) {
      this.first = { signal, atMs: nowMs };
      return false;
    }
    return signal === this.first.signal && nowMs - this.first.atMs < ECHO_MS;
  }
}
