/** Spans that lists of names are of: hours, days and months in UTC. */

/** By their letter in the database. */
export type ListGrain = 'h' | 'd' | 'M';

/** Start of the span that holds a moment, Unix milliseconds. */
export function startOf(grain: ListGrain, timeMs: number): number {
  const time = new Date(timeMs);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (grain === 'M') return Date.UTC(year, month);
  return Date.UTC(year, month, day, grain === 'h' ? time.getUTCHours() : 0);
}
