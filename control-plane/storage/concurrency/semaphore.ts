/** Runs a limited number of operations concurrently, in order of arrival. */

/** A limit on concurrency. */
export class Semaphore {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  /** Runs `work` when there is a free slot. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The slot passes directly to the next waiting operation, which preserves the order.
      if (next === undefined) this.free++;
      else next();
    }
  }
}
