/**
 * CPU priorities on a busy core: first the answer threads, then the control plane with the log and V8's helper thread,
 * last the four threads of libuv, which read and write files and would otherwise get four turns to one of an answer
 * thread.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Logger } from '../../shared/log.ts';

const THREADS = '/proc/self/task';
const HELPERS = [
  { name: /^(node-)?V8Worker/, nicer: 3 },
  { name: /^libuv-worker/, nicer: 12 },
] as const;
/** Niceness of the control plane above that of the DNS threads. */
const CONTROL_PLANE_NICER = 3;
const MOST = 19;

/**
 * Sets the priorities of the running threads; call it once the DNS threads run. Threads started later inherit the
 * control plane's. Only on Linux does a priority belong to a thread.
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
