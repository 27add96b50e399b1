/** Waiting in tests for something that happens elsewhere. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves when `test` is true, which is looked at every `pauseMs`: seldom where a look costs a server something. The
 * suite's own timeout ends a wait in vain; nothing is measured.
 */
export async function until(test: () => boolean | Promise<boolean>, pauseMs = 10): Promise<void> {
  while (!(await test())) await sleep(pauseMs);
}
