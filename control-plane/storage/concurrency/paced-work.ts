/**
 * Runs an operation immediately, then at most once per interval: all calls during the pause share one run at the end of
 * the pause.
 */

/** Paces work, which must not reject; only one run is active at a time. */
export class PacedWork {
  private readonly work: () => Promise<void>;
  private readonly pauseMs: number;
  private running: Promise<void> | undefined;
  private pause: NodeJS.Timeout | undefined;
  private isDue = false;

  /** `pauseMs`: minimum time from the end of a run to the start of the next. */
  constructor(work: () => Promise<void>, pauseMs: number) {
    this.work = work;
    this.pauseMs = pauseMs;
  }

  /** Requests a run that starts after this call: immediately, or at the end of the pause. */
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
