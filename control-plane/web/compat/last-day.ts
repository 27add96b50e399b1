/** The period of the compatibility API's figures. */
import type { Clock } from '../../../shared/clock.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** The last 24 hours, as the native API understands them. */
export function lastDay(clock: Clock): { fromMs: number; toMs: number } {
  return spanOf(clock.nowMs(), DAY_MS);
}
