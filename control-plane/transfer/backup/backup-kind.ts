/** Kinds of objects in a backup. */
import type { BackupFile } from '../../../shared/api/policy/backup-api.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** An object in a backup, with the fields of the validated file. */
export type Item = Readonly<Record<string, unknown>>;
/** The name of a kind of objects in the file. */
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

/** A kind of objects. Groups are deleted by `store-changes.ts`, because other kinds refer to them. */
export interface BackupKind {
  readonly name: KindName;
  /** Fields that identify an object. */
  readonly key: readonly string[];
  /** Whether an object is identified by only the first of these fields that it has. */
  readonly isKnownByFirst?: boolean;
  /** Whether the key ignores letter case. */
  readonly isFolded?: boolean;
  /** `read` takes the current time as `$1`. */
  readonly isTimed?: boolean;
  /** Rows with the fields of the file, in an order that does not depend on ids. */
  readonly read: string;
  /** Completes the rows with data that the database stores in another form. */
  readonly complete?: (tx: Queryable, items: readonly Item[]) => Promise<readonly Item[]>;
  /** The reverse of `complete`, before `put`. */
  readonly prepare?: (tx: Queryable, items: readonly Item[]) => Promise<readonly Item[]>;
  /** Stores new and changed objects. */
  readonly put: readonly string[];
  readonly remove: readonly string[];
}

/** SQL that reads the objects of a kind, given as JSON in `$1`, as rows `v`. */
export function items(columns: string): string {
  return `jsonb_to_recordset($1::jsonb) AS v(${columns})`;
}
