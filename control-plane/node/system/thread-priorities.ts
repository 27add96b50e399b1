/**
 * CPU priorities on a busy core: first the answer threads, then the control plane with the log and V8's helper thread,
 * last the four threads of libuv, which read and write files. With the same priority, these would get four times the
 * CPU time of an answer thread.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';

const THREADS = '/proc/self/task';
/** Niceness of the control plane and the log thread, relative to the DNS threads. */
const CONTROL_PLANE_NICER = 3;
const HELPERS = [
  { name: /^(node-)?V8Worker/, nicer: 3 },
  { name: /^libuv-worker/, nicer: 12 },
  { name: /^query-log$/, nicer: CONTROL_PLANE_NICER },
] as const;
const MAX_NICENESS = 19;

/**
 * Sets the niceness of threads that start from now on. If they replace threads of another process and this is
 * permitted, they get the niceness of those threads, because a process inherits the niceness of the control plane that
 * started it. Returns the intended value.
 */
export function adoptDnsPriority(running: number | undefined, logger: Logger): number {
  const own = getPriority();
  if (running === undefined || running >= own) return own;
  try {
    setPriority(running);
  } catch (error) {
    logger.debug('could not take over the priority of the previous process: not permitted', {
      reason: reasonOf(error),
    });
  }
  return running;
}

/**
 * Sets the priorities of all running threads. Call this after the DNS threads have started; `wanted` is their intended
 * niceness. Threads that start later inherit the niceness of the control plane. Only on Linux does a thread have its
 * own priority.
 */
export function raiseDnsPriority(wanted: number, logger: Logger): void {
  if (process.platform !== 'linux') return;
  try {
    const answers = getPriority();
    for (const id of readdirSync(THREADS)) {
      const name = readFileSync(`${THREADS}/${id}/comm`, 'utf8').trimEnd();
      const helper = HELPERS.find((one) => one.name.test(name));
      if (helper !== undefined) setPriority(Number(id), Math.min(answers + helper.nicer, MAX_NICENESS));
    }
    // If this process inherited the niceness of a control plane, the niceness is not increased further, so that it does
    // not grow with each upgrade.
    setPriority(process.pid, Math.min(Math.max(answers, wanted + CONTROL_PLANE_NICER), MAX_NICENESS));
  } catch (error) {
    logger.debug('could not raise the priority of the DNS threads', { error: String(error) });
  }
}
