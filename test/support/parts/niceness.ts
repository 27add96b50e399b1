/** Priorities within the kernel's limits, whatever priority the tests have. */
import { getPriority } from 'node:os';

const MOST = 19;

/** The niceness of the tests plus `by`, at most 19. */
export function nicerBy(by: number): number {
  return Math.min(getPriority() + by, MOST);
}
