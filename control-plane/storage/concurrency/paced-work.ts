/**
 * Runs an operation immediately, then at most once per interval: calls during the pause result in one run at its end.
 */

/** Work that must not reject, one run at a time. */
export class PacedWork {
  private readonly work: () => Promise<void>;
  private readonly pauseMs: number;
  private running: Promise<void> | undefined;
  private pause: NodeJS.Timeout | undefined;
  private isDue = false;

  /** `pauseMs` from the end of a run to the start of the next. */
  constructor(work: () => Promise<void>, pauseMs: number) {
    this.work = work;
    this.pauseMs = pauseMs;
  }

  /** Requests a run that starts after this call: now, or when the pause is over. */
  request(): void {
    this.isDue = true;
    if (this.running === undefined && this.pause === undefined) this.start();
  }

  /** Runs requested work now; resolves when no run is active. */
  async settle(): Promise<void> {
    while (this.running !== undefined || this.isDue) {
      this.endPause();
      await this.running;
    }
  }

  private start(): void {
    this.isDue = false;
    this.running = this.work().finally(() => {
      this.running = undefined;
      this.pause = setTimeout(() => this.endPause(), this.pauseMs).unref();
    });
  }

  private endPause(): void {
    clearTimeout(this.pause);
    this.pause = undefined;
    if (this.isDue && this.running === undefined) this.start();
  }
}
