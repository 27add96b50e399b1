/** Chooses the rows of a block that may be on a page, without sorting all rows. */

/** Sufficient for any page without an offset; for more rows, sorting the whole block is as fast. */
const MAX_CHOSEN = 2000;

/**
 * The `count` rows with the oldest or the newest times, and the rows with the same time as the last of these. Returns
 * all rows if the block has few rows or `count` is large. The result is not sorted. `rows` = null means all rows of the
 * block.
 */
export function nearestRows(
  rows: readonly number[] | null,
  times: Float64Array,
  count: number,
  isOldest: boolean,
): number[] {
  const total = rows?.length ?? times.length;
  if (total <= count || count > MAX_CHOSEN) return rows === null ? [...times.keys()] : [...rows];
  const sign = isOldest ? 1 : -1;
  // Distances of the nearest rows so far, ascending. Rows are almost sorted by time, so few are inserted if the loop
  // starts at the nearer end.
  const nearest = new Float64Array(count).fill(Infinity);
  for (let i = 0; i < total; i++) {
    const at = isOldest ? i : total - 1 - i;
    const distance = sign * times[rows === null ? at : rows[at]!]!;
    if (distance < nearest[count - 1]!) insert(nearest, distance);
  }
  const edge = nearest[count - 1]!;
  if (rows !== null) return rows.filter((row) => sign * times[row]! <= edge);
  const chosen: number[] = [];
  for (let row = 0; row < total; row++) if (sign * times[row]! <= edge) chosen.push(row);
  return chosen;
}

/** Inserts a number in order, and removes the largest number. */
function insert(sorted: Float64Array, number: number): void {
  let at = sorted.length - 1;
  for (; at > 0 && sorted[at - 1]! > number; at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = number;
}
