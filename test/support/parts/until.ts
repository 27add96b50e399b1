/** Waiting in tests for something that happens elsewhere. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when `test` is true. The suite's own timeout ends a wait in vain; nothing is measured. */
export async function until(test: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await test())) await sleep(10);
}
