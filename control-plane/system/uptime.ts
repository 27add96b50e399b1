/** How long this node has been running. */
import type { Clock } from '../../shared/clock.ts';

/** Whole seconds since the node started. */
export function uptimeSecs({
  clock,
  startedAtMs,
}: {
  readonly clock: Clock;
  readonly startedAtMs: number;
}): number {
  return Math.floor((clock.monotonicMs() - startedAtMs) / 1000);
}
