/** What is kept between questions about periods that are asked for again and again: the last few, by their lengths. */
import { Semaphore } from '../../concurrency/semaphore.ts';
import { KeptSums } from '../names/kept-sums.ts';
import type { ListKind } from '../names/name-list-store.ts';
import type { TimeSpan } from './block-filter.ts';
import { BlockListing } from './block-listing.ts';
import { KeptCounts } from './kept-counts.ts';

/** Periods whose sums are kept: outside of the heap 0.8 MB each where there are 20,000 names, 6 MiB at most. */
const MOST_PERIODS = 4;
/** Questions for which sums that could not be kept are not tried again. */
const BARRED_QUESTIONS = 16;

/** What is kept of one. */
export class KeptPeriod {
  readonly blocks = new BlockListing();
  readonly counts = new KeptCounts();
  readonly sums: Readonly<Record<ListKind, KeptSums>> = { names: new KeptSums(), clients: new KeptSums() };
  private readonly turn = new Semaphore(1);
  private barredUntil = 0;

  /** Lets `work` have it alone; questions of the same period share what the first one reads. */
  inTurn<T>(work: (period: this) => Promise<T>): Promise<T> {
    return this.turn.run(() => work(this));
  }

  /** Notes that there was no room; returns false. */
  bar(round: number): false {
    this.barredUntil = round + BARRED_QUESTIONS;
    return false;
  }

  isBarred(round: number): boolean {
    return round < this.barredUntil;
  }
}

/** The periods. */
export class KeptPeriods {
  private readonly periods = new Map<number, KeptPeriod>();

  /** What is kept of periods of this length. */
  find({ fromUs, toUs }: TimeSpan): KeptPeriod {
    const length = toUs - fromUs;
    const period = this.periods.get(length) ?? new KeptPeriod();
    // The order of the map is that of use.
    this.periods.delete(length);
    this.periods.set(length, period);
    const [oldest] = this.periods.keys();
    if (this.periods.size > MOST_PERIODS) this.periods.delete(oldest!);
    return period;
  }
}
