/** SQL of `blocking_switch`: one row for all nodes of the cluster. Reading it is part of `policy-store.ts`. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { Author } from '../../api/caller.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** A change of the blocking state; `until` null = without a timer. */
export interface BlockingSwitchChange {
  readonly enabled: boolean;
  readonly until: Date | null;
}

/** Enables or pauses blocking, with its entry in the audit log. */
export async function storeBlockingSwitch(
  tx: Queryable,
  actor: Author,
  { enabled, until }: BlockingSwitchChange,
): Promise<void> {
  const before = await readBlockingSwitch(tx);
  await writeBlockingSwitch(tx, enabled, until);
  const action = codedAction(enabled ? 'switched_on' : 'switched_off');
  await recordAudit(tx, {
    actor,
    subject: codedSubject('blocking'),
    action,
    before,
    after: { enabled, until },
  });
}

/**
 * Enables or pauses blocking until the given time; null = without a timer. When the timer ends, the state from before
 * the timer is restored, even if the timer was set several times.
 */
export async function writeBlockingSwitch(
  db: Queryable,
  enabled: boolean,
  until: Date | null,
): Promise<void> {
  await db.query(
    `INSERT INTO blocking_switch (enabled, until) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, until = excluded.until, changed_at = now(),
       "before" = CASE WHEN blocking_switch.until IS NULL THEN blocking_switch.enabled
                       ELSE blocking_switch."before" END`,
    [enabled, until],
  );
}

/** The stored state; null if there is none, so that the configuration applies. */
export async function readBlockingSwitch(
  db: Queryable,
): Promise<{ enabled: boolean; until: Date | null } | null> {
  const { rows } = await db.query<{ enabled: boolean; until: Date | null }>(
    'SELECT enabled, until FROM blocking_switch',
  );
  return rows[0] ?? null;
}

/** Deletes the stored state, so that the configuration applies. */
export async function deleteBlockingSwitch(db: Queryable): Promise<void> {
  await db.query('DELETE FROM blocking_switch');
}
