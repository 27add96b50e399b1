/** Runs an operation, never twice at the same time; all calls during a run share one further run. */

/** Serializes `work`. Each caller waits for a run that started after its call. */
export class Coalescer {
  private readonly work: () => Promise<void>;
  private running: Promise<void> | undefined;
  private queued: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.work = work;
  }

  /** Settles with the result of the run that covers this call. */
  run(): Promise<void> {
    if (this.queued !== undefined) return this.queued;
    if (this.running === undefined) return this.start();
    this.queued = ended(this.running).then(() => {
      this.queued = undefined;
      return this.start();
    });
    return this.queued;
  }

  /** Resolves when no run is active or queued; never rejects. */
  async idle(): Promise<void> {
    for (let next = this.queued ?? this.running; next !== undefined; next = this.queued ?? this.running)
      await ended(next);
  }

  private start(): Promise<void> {
    const running = this.work().finally(() => {
      this.running = undefined;
    });
    this.running = running;
    return running;
  }
}

/** Waits for the end of a run and ignores its outcome. */
function ended(run: Promise<void>): Promise<void> {
  return run.catch(() => undefined);
}
