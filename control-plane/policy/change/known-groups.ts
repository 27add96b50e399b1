/** SQL that finds references to groups that do not exist. */
import type { RowFaults } from '../../api/row-faults.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** Adds a fault for each row whose group does not exist. A group of null is valid. */
export async function noteUnknownGroups(
  db: Queryable,
  rows: readonly { readonly group_id: number | null }[],
  faults: RowFaults,
): Promise<void> {
  const ids = [...new Set(rows.flatMap(({ group_id: id }) => id ?? []))];
  const found = await db.query<{ id: number }>('SELECT id FROM groups WHERE id = ANY($1::integer[])', [ids]);
  const known = new Set(found.rows.map(({ id }) => id));
  for (const [index, { group_id: id }] of rows.entries())
    if (id !== null && !known.has(id))
      faults.invalid(`create.${index}.group_id`, 'expected the id of an existing group');
}
