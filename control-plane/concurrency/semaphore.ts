/** Lets a bounded number of pieces of work run at once, in the order in which they came. */

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
      // The place goes from hand to hand, so that no one overtakes.
      if (next === undefined) this.free++;
      else next();
    }
  }
}
