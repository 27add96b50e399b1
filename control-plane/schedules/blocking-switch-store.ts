/** SQL of `blocking_switch`: one row for all nodes of the cluster. Reading it is part of `policy-store.ts`. */
import type { Queryable } from '../db/database.ts';

/** Switches blocking on or off, until the given time or (null) until changed. */
export async function writeBlockingSwitch(
  db: Queryable,
  enabled: boolean,
  until: Date | null,
): Promise<void> {
  await db.query(
    `INSERT INTO blocking_switch (enabled, until) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, until = excluded.until, changed_at = now()`,
    [enabled, until],
  );
}
