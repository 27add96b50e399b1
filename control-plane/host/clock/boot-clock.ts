/** Provides the clocks of the machine, including one that also runs while the machine is suspended. */
import { readFileSync } from 'node:fs';
import { systemClock } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';

/** The clocks that the control plane uses. */
export const bootClock: Clock = { ...systemClock, bootMs };

/** Milliseconds of CLOCK_BOOTTIME, which proc(5) reports in hundredths of a second. */
function bootMs(): number {
  try {
    return parseFloat(readFileSync('/proc/uptime', 'latin1')) * 1000;
  } catch {
    return systemClock.monotonicMs();
  }
}
