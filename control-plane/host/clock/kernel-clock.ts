/** Whether the kernel's clock follows a time source (NTP, PTP or GPS), as the kernel reports it. */
import { existsSync } from 'node:fs';
import { loadLibc } from '../../../shared/libc.ts';

/** `unknown`: this system does not report the state, or Weir is not permitted to query it (koffi, seccomp). */
export type KernelClock = 'synchronised' | 'unsynchronised' | 'unknown';

interface ClockCalls {
  adjtimex(timex: Uint8Array): number;
}

/** Size in bytes; more than `struct timex` of any Linux version. */
const TIMEX_SIZE = 512;
/** Result of adjtimex(2) while the clock is not synchronised. */
const TIME_ERROR = 5;

/** Created by systemd-timesyncd after it has set the clock. */
const TIMESYNC_MARKER = '/run/systemd/timesync/synchronized';

/** Returns a function that reads the state and changes nothing: `modes` stays 0, which needs no privilege. */
export function kernelClockReader(): () => KernelClock {
  const libc = process.platform === 'linux' ? loadLibc<ClockCalls>({ adjtimex: ['int', ['void *']] }) : null;
  if (libc === null || !('calls' in libc)) return () => kernelClockOf(-1);
  const { calls } = libc;
  return () => kernelClockOf(calls.adjtimex(new Uint8Array(TIMEX_SIZE)));
}

/**
 * The state from the result of adjtimex(2); the systemd unit forbids that call, and then a file of systemd-timesyncd
 * decides.
 */
export function kernelClockOf(state: number, marker = TIMESYNC_MARKER): KernelClock {
  if (state < 0) return existsSync(marker) ? 'synchronised' : 'unknown';
  return state === TIME_ERROR ? 'unsynchronised' : 'synchronised';
}
