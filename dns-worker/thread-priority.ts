/** Who gets the core first. */
import { constants, setPriority } from 'node:os';

/**
 * Puts the calling thread before the others of the machine, those of Weir that compile, collect and serve the
 * API among them. An ordinary user may not do that, and then it is one among equals.
 */
export function goBeforeOthers(): void {
  try {
    // On Linux, process 0 is the calling thread.
    setPriority(0, constants.priority.PRIORITY_ABOVE_NORMAL);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** EACCES and EPERM, as Node wraps them. */
function isRefusal(error: unknown): boolean {
  const { code } = (error as { info?: { code?: unknown } }).info ?? {};
  return code === 'EACCES' || code === 'EPERM';
}
