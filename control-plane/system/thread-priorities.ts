/**
 * Who gets a core that is short of time: first the threads that answer, then the control plane, which the log goes
 * through and which the helper thread of V8 works for, last the threads of libuv, which read and write files: there
 * are four of them, so they would have four turns to one of the thread that answers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Logger } from '../../shared/log.ts';

const THREADS = '/proc/self/task';
const HELPERS = [
  { name: /^(node-)?V8Worker/, nicer: 3 },
  { name: /^libuv-worker/, nicer: 12 },
] as const;
/** How much nicer than the threads that answer the control plane is. */
const CONTROL_PLANE_NICER = 3;
const MOST = 19;

/**
 * Puts the threads that run now into that order; call when those that answer do. Whatever the control plane starts
 * later has its priority. On Linux alone a priority belongs to a thread.
 */
export function putAnswersFirst(logger: Logger): void {
  if (process.platform !== 'linux') return;
  try {
    const answers = getPriority();
    for (const id of readdirSync(THREADS)) {
      const name = readFileSync(`${THREADS}/${id}/comm`, 'utf8');
      const helper = HELPERS.find((one) => one.name.test(name));
      if (helper !== undefined) setPriority(Number(id), Math.min(answers + helper.nicer, MOST));
    }
    setPriority(process.pid, Math.min(answers + CONTROL_PLANE_NICER, MOST));
  } catch (error) {
    logger.debug('put answers first: not possible', { error: String(error) });
  }
}
