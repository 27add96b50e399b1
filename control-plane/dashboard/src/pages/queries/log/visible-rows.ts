/** Selects the rows of a long list that have elements. All rows have the same height. */

/** Maximum number of elements. */
export const MAX_ELEMENTS = 78;
/** Number of extra rows with elements beyond either edge, so that fast scrolling shows no gap. */
const BEYOND = 6;
/** Elements change in steps of this many rows instead of for each row that the user scrolls past. */
const STEP = 4;

/** Visible part of the list. */
export interface Sight {
  /** Pixels of the list above the upper edge; negative while its start is below the edge. */
  readonly abovePx: number;
  readonly heightPx: number;
  readonly rowPx: number;
  readonly count: number;
}

/** The rows from `first` up to, but not including, `last`. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

/** The rows that need elements. */
export function visibleRows({ abovePx, heightPx, rowPx, count }: Sight): RowRange {
  if (rowPx <= 0 || count === 0) return { first: 0, last: Math.min(count, BEYOND) };
  // If the list starts below the upper edge, a smaller part of it is visible.
  const seenPx = Math.max(0, heightPx + Math.min(0, abovePx));
  const inSight = Math.ceil(seenPx / rowPx) + 1;
  const beyond = Math.max(0, Math.min(BEYOND, Math.floor((MAX_ELEMENTS - inSight) / 2)));
  const top = Math.min(Math.max(0, Math.floor(abovePx / rowPx)), count - 1);
  const first = Math.max(0, top - beyond - (beyond < STEP ? 0 : top % STEP));
  return { first, last: Math.min(count, top + inSight + beyond, first + MAX_ELEMENTS) };
}
