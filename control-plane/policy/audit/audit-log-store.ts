/** SQL that reads the audit log, and deletes its oldest entries. `audit-store.ts` writes it. */
import type { AuditLogEntry } from '../../../shared/api/audit-api.ts';
import { notFound } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** Filters for entries; undefined = all. */
export interface AuditSelection {
  readonly author?: string | undefined;
  /** Text that the field must contain, ignoring case. */
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly actionCode?: string | undefined;
  readonly revision?: number | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

interface EntryRow extends Omit<AuditLogEntry, 'id' | 'timestamp' | 'revision' | 'actor' | 'address'> {
  /** A `bigint`, which pg returns as text, or as a number within JSON. */
  readonly id: string | number;
  readonly created_at: Date;
  readonly revision: string | number | null;
}

const COLUMNS =
  'id, created_at, actor AS author, host(address) AS ip_address, action, subject, revision, before, after, left_out, codes';

const SELECTED = `($1::text IS NULL OR actor = $1)
  AND ($2::text IS NULL OR strpos(lower(action), lower($2)) > 0)
  AND ($3::text IS NULL OR strpos(lower(subject), lower($3)) > 0)
  AND ($4::bigint IS NULL OR revision = $4)
  AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at < $6)
  AND ($7::text IS NULL OR codes -> 'action' ->> 'code' = $7)`;

function valuesOf(selection: AuditSelection): unknown[] {
  const { author, action, subject, revision, from, to, actionCode } = selection;
  return [author, action, subject, revision, from, to, actionCode].map((value) => value ?? null);
}

/** A page of entries, newest first; `before`: only those with a smaller id. */
export async function readAuditLog(
  db: Queryable,
  selection: AuditSelection,
  { before, limit, offset }: { before: number | null; limit: number; offset: number },
): Promise<AuditLogEntry[]> {
  const { rows } = await db.query<EntryRow>(
    `SELECT ${COLUMNS} FROM audit_log WHERE ${SELECTED} AND ($8::bigint IS NULL OR id < $8)
     ORDER BY id DESC LIMIT $9 OFFSET $10`,
    [...valuesOf(selection), before, limit, offset],
  );
  return rows.map(toEntry);
}

/** Number of entries. */
export async function countAuditLog(db: Queryable, selection: AuditSelection): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM audit_log WHERE ${SELECTED}`,
    valuesOf(selection),
  );
  return rows[0]!.count;
}

/** One entry; throws 404 if it does not exist. */
export async function readAuditEntry(db: Queryable, id: number): Promise<AuditLogEntry> {
  const { rows } = await db.query<EntryRow>(`SELECT ${COLUMNS} FROM audit_log WHERE id = $1`, [id]);
  if (rows[0] === undefined) throw notFound(`audit log entry ${id}`);
  return toEntry(rows[0]);
}

/** The entry of a revision; null if the entry was deleted because of its age. */
export async function readAuditOfRevision(db: Queryable, revision: number): Promise<AuditLogEntry | null> {
  const { rows } = await db.query<EntryRow>(
    `SELECT ${COLUMNS} FROM audit_log WHERE revision = $1 ORDER BY id LIMIT 1`,
    [revision],
  );
  return rows[0] === undefined ? null : toEntry(rows[0]);
}

/** Deletes entries older than this number of days; returns their number. */
export async function deleteOldAudit(db: Queryable, days: number): Promise<number> {
  const { rowCount } = await db.query(
    'DELETE FROM audit_log WHERE created_at < now() - make_interval(days => $1)',
    [days],
  );
  return rowCount ?? 0;
}

function toEntry({ created_at: createdAt, ...row }: EntryRow): AuditLogEntry {
  return {
    ...row,
    actor: row.author,
    address: row.ip_address,
    id: Number(row.id),
    timestamp: createdAt.toISOString(),
    revision: row.revision === null ? null : Number(row.revision),
  };
}
