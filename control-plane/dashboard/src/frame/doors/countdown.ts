/** Counts seconds down. */
import { useEffect, useState } from 'react';

/** The seconds that are left, and what starts them. */
export function useCountdown(): [secs: number, start: (secs: number) => void] {
  const [secs, setSecs] = useState(0);
  const isRunning = secs > 0;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setSecs((left) => Math.max(0, left - 1)), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return [secs, setSecs];
}
