/** Counts the seconds of a timer of the server down. */
import { useEffect, useState } from 'react';
import { secsLeft } from './pause-choices.ts';

const MINUTE_SECS = 60;
const SLOW_MS = 10_000;
const QUICK_MS = 1_000;

/** The seconds that are left of a timer, of which `timerSecs` were left at `atMs`; null = no timer. */
export function useSecsLeft(timerSecs: number | null, atMs: number): number | null {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const left = timerSecs === null ? null : secsLeft(timerSecs, atMs, Math.max(nowMs, atMs));
  const isRunning = left !== null && left > 0;
  const everyMs = isRunning && left <= 2 * MINUTE_SECS ? QUICK_MS : SLOW_MS;
  useEffect(() => {
    if (!isRunning) return undefined;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs, atMs]);
  return left;
}
