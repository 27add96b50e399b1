/** SQL of `groups`. `control-plane/policy/snapshot/build/` converts these rows to policy. */
import { DEFAULT_GROUP_ID } from '../../../shared/api/policy/groups-api.ts';
import type { Group, GroupCreate, GroupUpdate } from '../../../shared/api/policy/groups-api.ts';
import { conflict, notFound } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** A group without the fields that only this node has in memory. */
export type StoredGroup = Omit<Group, 'client_count'>;

interface GroupRow {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly comment: string;
  readonly no_ipv6: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = 'id, name, enabled, comment, no_ipv6, created_at, updated_at';

/** All groups, Default first, then by name. */
export async function listGroups(db: Queryable): Promise<StoredGroup[]> {
  const { rows } = await db.query<GroupRow>(`SELECT ${COLUMNS} FROM groups ORDER BY id <> $1, lower(name)`, [
    DEFAULT_GROUP_ID,
  ]);
  return rows.map(toGroup);
}

/** One group; throws 404 if it does not exist. */
export async function readGroup(db: Queryable, id: number): Promise<StoredGroup> {
  const { rows } = await db.query<GroupRow>(`SELECT ${COLUMNS} FROM groups WHERE id = $1`, [id]);
  return toGroup(existing(rows[0], id));
}

/** Stores a new group; throws 409 if its name is in use, ignoring case. */
export async function insertGroup(db: Queryable, group: GroupCreate): Promise<StoredGroup> {
  const text = `INSERT INTO groups (name, enabled, comment, no_ipv6) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`;
  const { rows } = await refusingTakenNames(group.name, () =>
    db.query<GroupRow>(text, [group.name, group.enabled, group.comment, group.no_ipv6]),
  );
  return toGroup(rows[0]!);
}

/** Changes the given fields; throws 404 for an unknown group, and 409 for a name in use and for disabling Default. */
export async function updateGroup(db: Queryable, id: number, change: GroupUpdate): Promise<StoredGroup> {
  if (id === DEFAULT_GROUP_ID && change.enabled === false)
    throw conflict('the group Default cannot be disabled');
  const text = `UPDATE groups SET name = coalesce($2, name), enabled = coalesce($3, enabled),
    comment = coalesce($4, comment), no_ipv6 = coalesce($5, no_ipv6), updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`;
  const { rows } = await refusingTakenNames(change.name, () =>
    db.query<GroupRow>(text, [id, change.name, change.enabled, change.comment, change.no_ipv6]),
  );
  return toGroup(existing(rows[0], id));
}

/**
 * Deletes a group and, with `cascade`, also objects that refer to it, except clients. Throws 404 for an unknown group,
 * and 409 for Default and for a group to which other objects still refer.
 */
export async function deleteGroup(db: Queryable, id: number, cascade: boolean): Promise<void> {
  if (id === DEFAULT_GROUP_ID) throw conflict('the group Default cannot be deleted');
  if (cascade) await deleteReferences(db, id);
  try {
    const { rowCount } = await db.query('DELETE FROM groups WHERE id = $1', [id]);
    if (rowCount === 0) throw notFound(`group ${id}`);
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw conflict(
        `group ${id} is in use; remove its clients, subnets, lists and rules first, or delete it with cascade=true`,
      );
    throw error;
  }
}

/**
 * Deletes the subnets and rules of a group, and removes the group from lists. Throws 409 if a list would then be active
 * for every group.
 */
async function deleteReferences(db: Queryable, id: number): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT s.name FROM list_sources s JOIN list_source_groups g ON g.source_id = s.id
      GROUP BY s.id HAVING array_agg(g.group_id) = ARRAY[$1::integer] ORDER BY s.name`,
    [id],
  );
  if (rows.length > 0)
    throw conflict(
      `${rows.map(({ name }) => `"${name}"`).join(', ')}: these lists are assigned only to group ${id}, ` +
        'and would apply to all groups if the group were deleted; delete the lists, or assign them to ' +
        'another group first',
    );
  for (const table of ['client_subnets', 'list_source_groups', 'managed_domains', 'regex_filters'])
    await db.query(`DELETE FROM ${table} WHERE group_id = $1`, [id]);
}

function existing(row: GroupRow | undefined, id: number): GroupRow {
  if (row === undefined) throw notFound(`group ${id}`);
  return row;
}

async function refusingTakenNames<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'groups_name_key')) throw conflict(`a group named "${name}" already exists`);
    throw error;
  }
}

function toGroup(row: GroupRow): StoredGroup {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    comment: row.comment,
    is_default: row.id === DEFAULT_GROUP_ID,
    no_ipv6: row.no_ipv6,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
