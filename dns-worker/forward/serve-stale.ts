/**
 * When a client gets a stale answer (RFC 8767 section 5): after a delay, or at once if the question has just failed.
 */

/** RFC 8767 section 5, client response timer, milliseconds. */
const CLIENT_RESPONSE_MS = 1800;

/** Starts at construction; asks once for the stale answer. */
export class StaleTimer {
  /** Whether the client has got one. */
  hasAnswered = false;
  private readonly timer: NodeJS.Timeout;

  /** `waitedMs`: how long the client has waited already; `answer` says whether it could. */
  constructor(waitedMs: number, answer: () => boolean) {
    this.timer = setTimeout(
      () => {
        this.hasAnswered = answer();
      },
      Math.max(0, CLIENT_RESPONSE_MS - waitedMs),
    );
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
