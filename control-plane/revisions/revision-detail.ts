/** A revision with each row that it changed, which the audit log knows. */
import type { RevisionDetail } from '../../shared/api/revisions-api.ts';
import { readAuditOfRevision } from '../audit/audit-log-store.ts';
import type { Queryable } from '../db/database.ts';
import { findRevision } from '../policy/revision-store.ts';

type Rows = Readonly<Record<string, unknown>>;

/** One revision; 404 if there is none. */
export async function readDetail(db: Queryable, id: number): Promise<RevisionDetail> {
  const revision = await findRevision(db, id);
  const entry = await readAuditOfRevision(db, id);
  if (entry === null) return { ...revision, address: null, changes: null, left_out: 0 };
  const before = (entry.before ?? {}) as Rows;
  const after = (entry.after ?? {}) as Rows;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...names].map((name) => {
    // The name of a table has no blank.
    const end = name.indexOf(' ');
    const row = { before: before[name] ?? null, after: after[name] ?? null };
    return { table: name.slice(0, end), key: name.slice(end + 1), ...row };
  });
  return { ...revision, address: entry.address, changes, left_out: entry.left_out };
}
