/**
 * Checks the heartbeat of a thread, which is a number that its loop increments. The check runs outside the thread at a
 * regular interval.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Number of consecutive checks without a new heartbeat after which the thread may hang. */
const MISSED_BEATS = 3;

/** Checks the heartbeat of one thread. */
export class Heartbeat {
  private readonly coreTime: () => CoreTime | null;
  private last = 0;
  private missed = 0;
  /** CPU time of the thread at the first missed heartbeat. */
  private before: CoreTime | null = null;
  private hangs = false;

  /** `threadName` is the name of a thread in this process; tests pass `coreTime`. */
  constructor(threadName: string, coreTime: () => CoreTime | null = () => coreTimeOf(threadName)) {
    this.coreTime = coreTime;
  }

  /**
   * Checks the thread. Returns true once when the thread has missed several heartbeats, unless the reason is that other
   * threads used the CPU.
   */
  startsToHang(beat: number): boolean {
    this.missed = beat === this.last ? this.missed + 1 : 0;
    this.last = beat;
    if (this.missed === 1) this.before = this.coreTime();
    if (this.missed < MISSED_BEATS || this.hangs) return false;
    this.hangs = !wasStarved(this.before, this.coreTime());
    return this.hangs;
  }
}

/** CPU time of a thread since its start, in milliseconds. */
export interface CoreTime {
  readonly ranMs: number;
  /** Time for which the thread was ready to run while other threads ran. */
  readonly waitedMs: number;
}

/**
 * Maximum CPU time in milliseconds of a turn of a working loop; a thread that has used more without a heartbeat hangs.
 */
const TURN_MS = 250;
const NS_PER_MS = 1e6;

/**
 * The CPU time of the thread with this name; null if the system does not report it
 * (Documentation/scheduler/sched-stats).
 */
export function coreTimeOf(threadName: string, tasks = '/proc/self/task'): CoreTime | null {
  try {
    const tid = readdirSync(tasks).find((one) => nameOf(join(tasks, one)) === threadName);
    if (tid === undefined) return null;
    const [ran, waited] = readFileSync(join(tasks, tid, 'schedstat'), 'latin1')
      .split(' ')
      .map(Number);
    return { ranMs: ran! / NS_PER_MS, waitedMs: waited! / NS_PER_MS };
  } catch {
    return null;
  }
}

/** The name of a thread; null if the thread has ended since its directory was listed. */
function nameOf(task: string): string | null {
  try {
    return readFileSync(join(task, 'comm'), 'latin1').trimEnd();
  } catch {
    return null;
  }
}

/**
 * Whether a lack of CPU time explains that a thread sent no heartbeat from `before` to `now`: it hardly ran although it
 * was ready to run.
 */
export function wasStarved(before: CoreTime | null, now: CoreTime | null): boolean {
  if (before === null || now === null) return false;
  return now.ranMs - before.ranMs < TURN_MS && now.waitedMs - before.waitedMs > TURN_MS;
}
