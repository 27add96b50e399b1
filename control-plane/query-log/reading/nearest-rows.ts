/** Chooses the rows of a block that a page may have, without sorting all of them. */

/** More than a page needs without an offset; beyond, sorting all is as fast. */
const MOST_CHOSEN = 2000;

/**
 * The `count` rows with the oldest or the newest times and those of the same time as the last of them; all rows where
 * they are few or many are wanted. In no order.
 */
export function nearestRows(
  rows: readonly number[],
  times: Float64Array,
  count: number,
  isOldest: boolean,
): number[] {
  if (rows.length <= count || count > MOST_CHOSEN) return [...rows];
  const sign = isOldest ? 1 : -1;
  // Distances of the nearest rows so far, ascending. Rows lie nearly by time: begun at the right end, few come between.
  const nearest = new Float64Array(count).fill(Infinity);
  for (let i = 0; i < rows.length; i++) {
    const distance = sign * times[rows[isOldest ? i : rows.length - 1 - i]!]!;
    if (distance < nearest[count - 1]!) insert(nearest, distance);
  }
  const edge = nearest[count - 1]!;
  return rows.filter((row) => sign * times[row]! <= edge);
}

/** Puts a number in its place, which pushes out the last one. */
function insert(sorted: Float64Array, number: number): void {
  let at = sorted.length - 1;
  for (; at > 0 && sorted[at - 1]! > number; at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = number;
}
