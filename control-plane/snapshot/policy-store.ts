/** SQL of everything that policy is made of, read in one statement and so from one moment. */
import type { Queryable } from '../db/database.ts';
import type { PolicyGroup, PolicyRows, PolicySource } from './compiled-rules.ts';

const QUERY = `SELECT
  (SELECT coalesce(json_agg(json_build_object('id', id, 'enabled', enabled) ORDER BY id), '[]')
     FROM groups) AS groups,
  (SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'enabled', s.enabled, 'groupIds',
          (SELECT coalesce(json_agg(g.group_id ORDER BY g.group_id), '[]')
             FROM blocklist_source_groups g WHERE g.source_id = s.id)) ORDER BY s.id), '[]')
     FROM blocklist_sources s) AS sources`;

/** Groups and sources as policy sees them. */
export async function readPolicyRows(db: Queryable): Promise<PolicyRows> {
  const { rows } = await db.query<{ groups: PolicyGroup[]; sources: PolicySource[] }>(QUERY);
  const { groups, sources } = rows[0]!;
  return { groups, sources };
}
