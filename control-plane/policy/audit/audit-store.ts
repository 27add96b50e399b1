/**
 * SQL that writes the audit log: author, action, time and address. An entry is written in the transaction of the change
 * that it describes, so either both are stored or neither is.
 */
import type { Author } from '../../api/caller.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { actionParts, joined, subjectParts } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import { withoutSecrets } from './masked-secrets.ts';

/** Record of one change: its subject and action, without secrets, and the values before and after it. */
export interface AuditEntry extends CodedChange {
  /** Author of the request: `authorOf(request)`. */
  readonly actor: Author;
  /** The state before the action, as JSON with secrets masked; null or absent if there was none. */
  readonly before?: unknown;
  /** The state after the action, as JSON with secrets masked. */
  readonly after?: unknown;
  /** Id of the revision of the change. */
  readonly revision?: number | null;
  /** Time of the action, if it was earlier. */
  readonly at?: Date;
  /** Number of changed rows that `before` and `after` omit. */
  readonly leftOut?: number;
}

/** Maximum length of texts, in characters. */
const MAX_SUBJECT = 500;
const MAX_NAME = 200;

/** Columns of an entry, except revision and time, and their types. */
const COLUMNS = [
  ['actor', 'text'],
  ['address', 'inet'],
  ['action', 'text'],
  ['subject', 'text'],
  ['before', 'jsonb'],
  ['after', 'jsonb'],
  ['left_out', 'integer'],
  ['codes', 'jsonb'],
] as const;

/**
 * SQL that inserts an entry with the SQL expression `revision` as its revision; `from` is a FROM clause. The
 * placeholders of the values, see `auditValues()`, start at number `first`.
 */
export function insertAudit(first: number, revision: string, from = ''): string {
  const values = COLUMNS.map(([, type], index) => `$${first + index}::${type}`).join(', ');
  return `INSERT INTO audit_log (${COLUMNS.map(([name]) => name).join(', ')}, revision)
    SELECT ${values}, ${revision} ${from}`;
}

/** The values of an entry for the placeholders of `insertAudit()`. */
export function auditValues(entry: Omit<AuditEntry, 'revision' | 'at'>): unknown[] {
  const { actor, action, subject, before, after, leftOut = 0 } = entry;
  return [
    stored(actor.name, MAX_NAME),
    actor.address,
    stored(joined(actionParts(action)), MAX_NAME),
    stored(joined(subjectParts(subject)), MAX_SUBJECT),
    asJson(before),
    asJson(after),
    leftOut,
    storedCodes({ subject, action }),
  ];
}

const INSERT = insertAudit(1, `$${COLUMNS.length + 1}::bigint`);
const INSERT_PAST = INSERT.replace('audit_log (', 'audit_log (created_at, ').replace(
  'SELECT ',
  `SELECT $${COLUMNS.length + 2}::timestamptz, `,
);

/** Writes an entry; call this in the transaction of the change. */
export async function recordAudit(tx: Queryable, entry: AuditEntry): Promise<void> {
  const values = [...auditValues(entry), entry.revision ?? null];
  if (entry.at === undefined) await tx.query(INSERT, values);
  else await tx.query(INSERT_PAST, [...values, entry.at]);
}

/** The codes of a change as JSON, with texts that PostgreSQL can store. */
export function storedCodes({ subject, action }: CodedChange): string {
  return JSON.stringify({ subject, action }, (_name, value: unknown) =>
    typeof value === 'string' ? stored(value, MAX_SUBJECT) : value,
  );
}

function asJson(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  // jsonb cannot contain a NUL.
  return JSON.stringify(withoutSecrets(value)).replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\\ufffd');
}

/** PostgreSQL cannot store a NUL in text. */
function stored(text: string, max: number): string {
  const clean = text.replaceAll('\0', '\ufffd');
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).toWellFormed()}…`;
}
