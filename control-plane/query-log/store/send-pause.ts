/** Pauses of a sender whose receiver is reachable but refuses data: doubled each time. */

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

  /** Starts a pause and returns its milliseconds. */
  begin(): number {
    const pauseMs = this.nextMs;
    this.untilMs = performance.now() + pauseMs;
    this.nextMs = Math.min(pauseMs * 2, PAUSE_MS.last);
    return pauseMs;
  }

  /** Resets the pause: data was accepted, or the receiver has changed. */
  end(): void {
    this.untilMs = -Infinity;
    this.nextMs = PAUSE_MS.first;
  }
}
