/**
 * Pauses of a sender whose receiver is reachable but rejects data. Each pause is twice as long as the previous one, up
 * to a limit.
 */

/** Milliseconds of the first and the longest pause. */
const PAUSE_MS = { first: 1000, last: 30_000 } as const;

/** Decides when to send again. */
export class SendPause {
  private untilMs = -Infinity;
  private nextMs: number = PAUSE_MS.first;

  /** Whether a pause is active. */
  isOn(): boolean {
    return performance.now() < this.untilMs;
  }

  /** Starts a pause and returns its length in milliseconds. */
  begin(): number {
    const pauseMs = this.nextMs;
    this.untilMs = performance.now() + pauseMs;
    this.nextMs = Math.min(pauseMs * 2, PAUSE_MS.last);
    return pauseMs;
  }

  /** Ends the pause and resets its length, because data was accepted or the receiver has changed. */
  end(): void {
    this.untilMs = -Infinity;
    this.nextMs = PAUSE_MS.first;
  }
}
