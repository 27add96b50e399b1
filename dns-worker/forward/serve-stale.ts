/**
 * When a client gets a stale answer (RFC 8767 section 5): after a delay, or immediately if the question has just
 * failed.
 */

/** Client response timer in milliseconds (RFC 8767 section 5). */
const CLIENT_RESPONSE_MS = 1800;

/** Timer that starts when it is constructed, and requests the stale answer once. */
export class StaleTimer {
  /** Whether a stale answer was sent. */
  hasAnswered = false;
  private readonly timer: NodeJS.Timeout;

  /** `waitedMs`: how long the client has already waited; `answer` returns whether it sent a stale answer. */
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
