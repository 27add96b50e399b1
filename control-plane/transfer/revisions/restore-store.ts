/**
 * SQL that restores the policy of a revision inside one transaction, by undoing the changes that `policy_changes` has
 * recorded since: a row that did not exist is deleted; a changed or deleted row gets the content that it had before its
 * first change.
 *
 * Observations of clients and of lists are kept.
 */
import { conflict } from '../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { hasKey, REINSERTED } from '../../policy/change/versioned-tables.ts';
import type { NotedTable } from '../../policy/change/versioned-tables.ts';
import { detachClients, restoreClients } from './restore-clients.ts';
import { changesOf, firstChangesOf } from './noted-changes.ts';
import { RESTORE_SOURCES } from './restore-sources.ts';

const removeChanged = (table: NotedTable): string =>
  `DELETE FROM ${table.name} USING (SELECT DISTINCT key ${changesOf(table.name)}) changed
     WHERE ${hasKey(table, 'changed.key')}`;

/** Deletions by a cascade are recorded as well. */
const restoreChanged = ({ name }: NotedTable): string =>
  `INSERT INTO ${name} SELECT r.* FROM ${firstChangesOf(name)} first,
     jsonb_populate_record(NULL::${name}, first.was) r WHERE first.was IS NOT NULL`;

const removeNew = (name: 'groups' | 'list_sources'): string =>
  `DELETE FROM ${name} USING ${firstChangesOf(name)} first WHERE first.was IS NULL AND id = first.key::integer`;

/** Two groups may have exchanged their names. */
const FREE_GROUP_NAMES = `UPDATE groups SET name = 'restored ' || gen_random_uuid() FROM ${firstChangesOf('groups')} first
  WHERE id = first.key::integer AND lower(name) <> lower(first.was ->> 'name')`;

const RESTORE_GROUPS = `INSERT INTO groups SELECT r.* FROM ${firstChangesOf('groups')} first,
    jsonb_populate_record(NULL::groups, first.was) r WHERE first.was IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, comment = excluded.comment,
    no_ipv6 = excluded.no_ipv6, updated_at = excluded.updated_at`;

/**
 * Makes nodes that store the state of lists wait: PostgreSQL can miss a row in ON CONFLICT (id) while it is being
 * updated, and then reports its URL as a duplicate.
 */
const LOCK_SOURCES = 'SELECT FROM list_sources ORDER BY id FOR UPDATE';

/**
 * Restores the policy of revision `id`, which must still be stored; 409 if two list sources have exchanged their URLs
 * since.
 */
export async function restorePolicy(tx: Queryable, id: number): Promise<void> {
  try {
    await detachClients(tx, id);
    await tx.query(LOCK_SOURCES);
    for (const table of REINSERTED) await tx.query(removeChanged(table), [id]);
    const inPlace = [
      ...[removeNew('groups'), FREE_GROUP_NAMES, RESTORE_GROUPS],
      ...[removeNew('list_sources'), RESTORE_SOURCES],
    ];
    for (const text of inPlace) await tx.query(text, [id]);
    for (const table of REINSERTED) await tx.query(restoreChanged(table), [id]);
    await restoreClients(tx, id);
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error))
      throw conflict(`revision ${id} cannot be restored: another object has a name or URL of that revision`);
    throw error;
  }
}
