/** Whether the kernel's clock follows a time source (NTP, PTP or GPS), as the kernel reports it. */
import { loadLibc } from '../../shared/libc.ts';

/** `unknown`: this system does not report it, or Weir may not ask (koffi, seccomp). */
export type KernelClock = 'synchronised' | 'unsynchronised' | 'unknown';

interface ClockCalls {
  adjtimex(timex: Uint8Array): number;
}

/** Bytes; more than `struct timex` of any Linux. */
const TIMEX_SIZE = 512;
/** Result of adjtimex(2) while the clock is not synchronised. */
const TIME_ERROR = 5;

/** A function that reads the state; it changes nothing: `modes` stays 0, which needs no privilege. */
export function kernelClockReader(): () => KernelClock {
  const libc = process.platform === 'linux' ? loadLibc<ClockCalls>({ adjtimex: ['int', ['void *']] }) : null;
  if (libc === null || !('calls' in libc)) return () => 'unknown';
  const { calls } = libc;
  return () => {
    const state = calls.adjtimex(new Uint8Array(TIMEX_SIZE));
    if (state < 0) return 'unknown';
    return state === TIME_ERROR ? 'unsynchronised' : 'synchronised';
  };
}
