/**
 * Compares two versions of a table's rows. In both versions, unchanged rows must be the same objects, and rows must be
 * sorted by id.
 */

interface Row {
  readonly id: number;
}

/**
 * Rows that only one of the versions has; the old and the new version of a changed row are in `gone` and in `fresh`.
 */
export interface RowDifferences<T> {
  readonly gone: readonly T[];
  readonly fresh: readonly T[];
}

/** Differences from `before` to `after`, in one pass over both. */
export function differingRows<T extends Row>(before: readonly T[], after: readonly T[]): RowDifferences<T> {
  const gone: T[] = [];
  const fresh: T[] = [];
  let at = 0;
  for (const row of after) {
    while (at < before.length && before[at]!.id < row.id) gone.push(before[at++]!);
    const was = before[at];
    if (was === row) at++;
    else {
      if (was?.id === row.id) {
        gone.push(was);
        at++;
      }
      fresh.push(row);
    }
  }
  while (at < before.length) gone.push(before[at++]!);
  return { gone, fresh };
}

/**
 * The rows of a table after changes: the rows with these ids are removed, and these rows are added. Equal rows stay the
 * same objects.
 */
export function withChanges<T extends Row>(
  before: readonly T[],
  { ids, rows }: { readonly ids: readonly number[]; readonly rows: readonly T[] },
): readonly T[] {
  const named = new Set(ids);
  const gone = new Map<number, T>();
  const kept = before.filter((row) => {
    if (!named.has(row.id)) return true;
    gone.set(row.id, row);
    return false;
  });
  const fresh = rows.map((row) => {
    const was = gone.get(row.id);
    return was !== undefined && hasSameFields(was, row) ? was : row;
  });
  // The array is almost sorted, so sorting costs one pass.
  return [...kept, ...fresh].sort((one, other) => one.id - other.id);
}

function hasSameFields<T extends Row>(one: T, other: T): boolean {
  return (Object.keys(one) as (keyof T)[]).every((field) => one[field] === other[field]);
}
