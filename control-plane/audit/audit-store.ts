/**
 * SQL that writes the audit log: who did what, when, from where. An entry is written in the transaction of what it
 * describes, so both are stored or neither.
 */
import type { Author } from '../api/caller.ts';
import type { Queryable } from '../db/database.ts';
import { withoutSecrets } from './masked-secrets.ts';

/** What is recorded of one change. */
export interface AuditEntry {
  /** Of a request: `authorOf(request)`. */
  readonly actor: Author;
  /** What was done, in the past: `created`, `changed`, `deleted`, `logged in`. */
  readonly action: string;
  /** What it was done to, for people, without secrets: `group Kids`, `api token phone`. */
  readonly subject: string;
  /** As JSON, secrets are masked; null or absent = there was nothing. */
  readonly before?: unknown;
  /** The same, after it. */
  readonly after?: unknown;
  /** Id of the revision that it made. */
  readonly revision?: number | null;
  /** Changed rows that `before` and `after` do not show. */
  readonly leftOut?: number;
}

/** Longest texts, characters. */
const MAX_SUBJECT = 500;
const MAX_NAME = 200;

const INSERT = `INSERT INTO audit_log (actor, address, action, subject, revision, before, after, left_out)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

/** Writes an entry; call it in the transaction of the change. */
export async function recordAudit(tx: Queryable, entry: AuditEntry): Promise<void> {
  const { actor, action, subject, before, after, revision = null, leftOut = 0 } = entry;
  await tx.query(INSERT, [
    stored(actor.name, MAX_NAME),
    actor.address,
    stored(action, MAX_NAME),
    stored(subject, MAX_SUBJECT),
    revision,
    asJson(before),
    asJson(after),
    leftOut,
  ]);
}

function asJson(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  // A NUL cannot be stored in jsonb.
  return JSON.stringify(withoutSecrets(value)).replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\\ufffd');
}

/** PostgreSQL stores no NUL in text. */
function stored(text: string, most: number): string {
  const clean = text.replaceAll('\0', '\ufffd');
  return clean.length <= most ? clean : `${clean.slice(0, most - 1).toWellFormed()}…`;
}
