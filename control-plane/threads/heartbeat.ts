/** The heartbeat of a thread: a number that its loop counts up, looked at from outside at a steady pace. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Looks in a row. */
const MISSED_BEATS = 3;

/** Last observations of one thread's heartbeat. */
export class Heartbeat {
  private readonly coreTime: () => CoreTime | null;
  private last = 0;
  private missed = 0;
  /** Core time at the first of the missed beats. */
  private before: CoreTime | null = null;
  private hangs = false;

  /** Of the thread of this name in this process; tests pass their own core times. */
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

/** CPU time of a thread since its start, in milliseconds. */
export interface CoreTime {
  readonly ranMs: number;
  /** Ready to run, while others did. */
  readonly waitedMs: number;
}

/** A loop that turns needs less than this for a turn; a thread that has had it, and is not heard of, hangs. */
const TURN_MS = 250;
const NS_PER_MS = 1e6;

/**
 * The core time of the thread with this name; null if the system does not report it
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

/** The name of a thread; null if it has ended since its directory was listed, which says nothing of the others. */
function nameOf(task: string): string | null {
  try {
    return readFileSync(join(task, 'comm'), 'latin1').trimEnd();
  } catch {
    return null;
  }
}

/** Whether it is not surprising that a thread was silent from `before` to `now`: it hardly ran, and was ready to. */
export function wasStarved(before: CoreTime | null, now: CoreTime | null): boolean {
  if (before === null || now === null) return false;
  return now.ranMs - before.ranMs < TURN_MS && now.waitedMs - before.waitedMs > TURN_MS;
}
