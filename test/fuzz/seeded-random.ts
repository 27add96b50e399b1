/** Random numbers from a seed: the same seed makes fuzzing repeatable. */

/** A generator (sfc32 by Chris Doty-Humphrey): 128 bits of state, four additions per number. */
export class Random {
  private a: number;
  private b = 0x9e3779b9;
  private c = 0x243f6a88;
  private counter = 1;

  constructor(seed: number) {
    this.a = seed | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** A 32-bit number. */
  next(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor((this.next() / 2 ** 32) * end);
  }

  /** One of several values. */
  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** True in one of `times` cases. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }
}
