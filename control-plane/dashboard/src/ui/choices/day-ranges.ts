/** Ranges of holidays. */

/** A range of holidays; both days are included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The ranges whose first and last day are filled in. */
export function filledIn(ranges: readonly DayRange[]): DayRange[] {
  return ranges.filter(({ from, to }) => from !== '' && to !== '');
}
