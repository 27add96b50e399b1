/** Ranges of days off, apart from their form. */

/** Days off, both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The ranges that have both days. */
export function filledIn(ranges: readonly DayRange[]): DayRange[] {
  return ranges.filter(({ from, to }) => from !== '' && to !== '');
}
