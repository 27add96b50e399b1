/** Ranges of days off, apart from their form. */

/** Days off, both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Those of which both days are chosen. */
export function filledIn(ranges: readonly DayRange[]): DayRange[] {
  return ranges.filter(({ from, to }) => from !== '' && to !== '');
}
