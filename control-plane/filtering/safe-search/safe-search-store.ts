/** SQL of `safe_search_configs`. An engine without a row is disabled. */
import {
  SAFE_SEARCH_ENGINES,
  type SafeSearchConfig,
  type SafeSearchToggle,
} from '../../../shared/api/policy/safe-search-api.ts';
import { notFound } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';

const COLUMNS = 'group_id, engine, enabled, youtube_mode';

/** All settings, by group. */
export async function listConfigs(db: Queryable): Promise<SafeSearchConfig[]> {
  const { rows } = await db.query<SafeSearchConfig>(
    `SELECT ${COLUMNS} FROM safe_search_configs ORDER BY group_id, engine`,
  );
  return rows;
}

/** The setting of every engine for one group; throws 404 for an unknown group. */
export async function readConfigs(db: Queryable, groupId: number): Promise<SafeSearchConfig[]> {
  await refuseUnknownGroup(db, groupId);
  const { rows } = await db.query<SafeSearchConfig>(
    `SELECT ${COLUMNS} FROM safe_search_configs WHERE group_id = $1`,
    [groupId],
  );
  return SAFE_SEARCH_ENGINES.map(
    (engine) =>
      rows.find((row) => row.engine === engine) ?? {
        group_id: groupId,
        engine,
        enabled: false,
        youtube_mode: 'strict',
      },
  );
}

/** Enables or disables one engine, or all engines, for a group. */
export async function writeConfigs(db: Queryable, groupId: number, toggle: SafeSearchToggle): Promise<void> {
  const engines = toggle.engine === 'all' ? SAFE_SEARCH_ENGINES : [toggle.engine];
  await db.query(
    `INSERT INTO safe_search_configs AS c (${COLUMNS})
       SELECT $1, engine, $3, coalesce($4, 'strict') FROM unnest($2::text[]) AS engine
     ON CONFLICT (group_id, engine) DO UPDATE SET enabled = excluded.enabled,
       youtube_mode = coalesce($4, c.youtube_mode)`,
    [groupId, engines, toggle.enabled, toggle.youtube_mode],
  );
}

/** Deletes the settings of a group; false if there were none. Throws 404 for an unknown group. */
export async function deleteConfigs(db: Queryable, groupId: number): Promise<boolean> {
  await refuseUnknownGroup(db, groupId);
  const { rowCount } = await db.query('DELETE FROM safe_search_configs WHERE group_id = $1', [groupId]);
  return (rowCount ?? 0) > 0;
}

async function refuseUnknownGroup(db: Queryable, groupId: number): Promise<void> {
  const { rows } = await db.query('SELECT 1 FROM groups WHERE id = $1', [groupId]);
  if (rows.length === 0) throw notFound(`group ${groupId}`);
}
