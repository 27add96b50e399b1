/** The heartbeat of a thread: a number that its loop counts up, looked at from outside at a steady pace. */
import { coreTimeOf, wasStarved } from './core-time.ts';
import type { CoreTime } from './core-time.ts';

/** Looks in a row. */
const MISSED_BEATS = 3;

/** What was seen of one thread's. */
export class Heartbeat {
  private readonly coreTime: () => CoreTime | null;
  private last = 0;
  private missed = 0;
  /** At the first of the missed beats. */
  private before: CoreTime | null = null;
  private hangs = false;

  /** Of the thread of this name in this process; tests bring core times of their own. */
  constructor(threadName: string, coreTime: () => CoreTime | null = () => coreTimeOf(threadName)) {
    this.coreTime = coreTime;
  }

  /** Takes a look. True once: when it has missed several beats, and not because others had the cores. */
  startsToHang(beat: number): boolean {
    this.missed = beat === this.last ? this.missed + 1 : 0;
    this.last = beat;
    if (this.missed === 1) this.before = this.coreTime();
    if (this.missed < MISSED_BEATS || this.hangs) return false;
    this.hangs = !wasStarved(this.before, this.coreTime());
    return this.hangs;
  }
}
