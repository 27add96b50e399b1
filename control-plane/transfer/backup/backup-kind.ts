/** Kinds of objects in a backup. */
import type { BackupFile } from '../../../shared/api/policy/backup-api.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** A thing of a backup, in the fields of the file after its checks. */
export type Item = Readonly<Record<string, unknown>>;
/** A kind of things, as the file names it. */
export type KindName = Exclude<
  keyof BackupFile,
  | 'format'
  | 'version'
  | 'created_at'
  | 'weir'
  | 'node'
  | 'has_secrets'
  | 'node_configuration'
  | 'dns_settings'
  | 'secrets'
>;

/** A kind. `store-changes.ts` deletes groups, which others refer to. */
export interface BackupKind {
  readonly name: KindName;
  /** Fields that identify an object. */
  readonly key: readonly string[];
  /** Whether only the first of these fields that an object has identifies it. */
  readonly isKnownByFirst?: boolean;
  /** Whether the key ignores letter case. */
  readonly isFolded?: boolean;
  /** `read` takes the current time as `$1`. */
  readonly isTimed?: boolean;
  /** Rows in the fields of the file, in an order that does not depend on ids where it means nothing. */
  readonly read: string;
  /** Adds what the database holds in another form to what was read. */
  readonly complete?: (tx: Queryable, items: readonly Item[]) => Promise<readonly Item[]>;
  /** The reverse, before `put`. */
  readonly prepare?: (tx: Queryable, items: readonly Item[]) => Promise<readonly Item[]>;
  /** Stores new and changed ones. */
  readonly put: readonly string[];
  readonly remove: readonly string[];
}

/** SQL that reads the things of a kind, given as JSON in `$1`, as rows `v`. */
export function items(columns: string): string {
  return `jsonb_to_recordset($1::jsonb) AS v(${columns})`;
}
