/** How a thread of this process and the cores got on: whether one that is not heard of hangs, or only waits for a core. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a thread has had of the cores since it started, in milliseconds. */
export interface CoreTime {
  readonly ranMs: number;
  /** Ready to run, while others did. */
  readonly waitedMs: number;
}

/** A loop that turns needs less than this for a turn; a thread that has had it, and is not heard of, hangs. */
const TURN_MS = 250;
const NS_PER_MS = 1e6;

/** That of the thread with this name; null where the system does not tell (Documentation/scheduler/sched-stats). */
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

/** The name of a thread; null where it has ended since its folder was listed, which says nothing of the others. */
function nameOf(task: string): string | null {
  try {
    return readFileSync(join(task, 'comm'), 'latin1').trimEnd();
  } catch {
    return null;
  }
}

/** Whether it is no wonder that a thread was not heard of from `before` to `now`: it hardly ran, and was ready to. */
export function wasStarved(before: CoreTime | null, now: CoreTime | null): boolean {
  if (before === null || now === null) return false;
  return now.ranMs - before.ranMs < TURN_MS && now.waitedMs - before.waitedMs > TURN_MS;
}
