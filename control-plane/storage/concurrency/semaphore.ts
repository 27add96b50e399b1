/** Runs a bounded number of pieces of work at once, in order of arrival. */

/** A limit on concurrency. */
export class Semaphore {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  /** Runs `work` when there is a place. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The place passes directly to the next one, which keeps the order.
      if (next === undefined) this.free++;
      else next();
    }
  }
}
