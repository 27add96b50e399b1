/** The day of a block, and of its partition. */
import { DAY_MS } from './block-gatherer.ts';

/** A day, counted from 1970-01-01 in UTC, as an SQL date. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
