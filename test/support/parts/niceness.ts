/** Priorities as the kernel bounds them, whatever the tests themselves were started with. */
import { getPriority } from 'node:os';

const MOST = 19;

/** The niceness of what is `by` nicer than the tests. */
export function nicerBy(by: number): number {
  return Math.min(getPriority() + by, MOST);
}
