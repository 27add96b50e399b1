/** Reads whether the clock of the kernel is synchronised with a time source (NTP, PTP or GPS). */
import { existsSync } from 'node:fs';
import { loadLibc } from '../../../shared/libc.ts';

/** `unknown`: this system does not report the state, or Weir is not permitted to query it (koffi, seccomp). */
export type KernelClock = 'synchronised' | 'unsynchronised' | 'unknown';

interface ClockCalls {
  adjtimex(timex: Uint8Array): number;
}

/** Size of the buffer in bytes; larger than `struct timex` in any version of Linux. */
const TIMEX_SIZE = 512;
/** Result of adjtimex(2) while the clock is not synchronised. */
const TIME_ERROR = 5;

/** File that systemd-timesyncd creates after it has set the clock. */
const TIMESYNC_MARKER = '/run/systemd/timesync/synchronized';

/** Returns a function that reads the state. It needs no privilege, because it changes nothing (`modes` stays 0). */
export function kernelClockReader(): () => KernelClock {
  const libc = process.platform === 'linux' ? loadLibc<ClockCalls>({ adjtimex: ['int', ['void *']] }) : null;
  if (libc === null || !('calls' in libc)) return () => kernelClockOf(-1);
  const { calls } = libc;
  return () => kernelClockOf(calls.adjtimex(new Uint8Array(TIMEX_SIZE)));
}

/**
 * The state according to the result of adjtimex(2). The systemd unit forbids this call; the state is then determined by
 * the file of systemd-timesyncd.
 */
export function kernelClockOf(state: number, marker = TIMESYNC_MARKER): KernelClock {
  if (state < 0) return existsSync(marker) ? 'synchronised' : 'unknown';
  return state === TIME_ERROR ? 'unsynchronised' : 'synchronised';
}
