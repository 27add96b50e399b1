/**
 * Plan of an import: a backup document that is merged into the current settings, and the items of the file from which
 * it was made. Every importer creates such a plan. It is plain data, because a thread sends it.
 */
import type { ImportReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ImportFormat, ImportItemKind } from '../../../../shared/api/imports-api.ts';
import type { BackupFile } from '../../../../shared/api/policy/backup-api.ts';
import type { MergedKind } from '../../backup/merge-items.ts';

/** Weir's group Default in the document, where it has `is_default`; no group of a file has this name. */
export const DEFAULT_GROUP = 'Default';

/** One object of the file, for the report. */
export interface PlanItem {
  readonly kind: ImportItemKind;
  readonly name: string;
  /** Result that does not depend on Weir's state; null = the result of the objects made from the item. */
  readonly result: 'not_mapped' | 'skipped' | 'differs' | null;
  readonly reason: ImportReason | null;
  /** For a rule, whether it allows or denies; null = there are rules of both kinds. */
  readonly action?: 'allow' | 'deny' | null;
  /** Names whose queries are affected by a difference. */
  readonly domains?: readonly string[];
}

/** The kinds of a backup that imports create; `configuration` has the DNS settings only. */
export type ImportDocument = { readonly [Kind in MergedKind]: NonNullable<BackupFile[Kind]> };

/** An object in the document. */
export type Thing<Kind extends MergedKind> = ImportDocument[Kind] extends (infer T)[] ? T : never;

/** Indexes of the items from which an object was made. */
type Origin = readonly number[];

/**
 * A list that Weir stores as a file in a directory of `blocking.list_dirs`: it becomes a list source once that
 * directory is known.
 */
export interface PlannedList {
  readonly source: Omit<Thing<'list_sources'>, 'url' | 'text'>;
  /** Name of the file, which stays the same if the list is imported again. */
  readonly fileName: string;
  readonly text: string;
  readonly items: Origin;
}

/** A key of Weir's configuration that the import offers. */
export interface PlannedKey {
  /** For example `dns.pools`. */
  readonly key: string;
  readonly value: unknown;
  readonly items: Origin;
  /** Reason why the key is not selected by default; null = it is selected. */
  readonly doubt: ImportReason | null;
  /**
   * Whether Weir offers the key although it is not in the file: if the user does not choose it, the behaviour differs
   * from that of the earlier program.
   */
  readonly isOwn?: boolean;
}

export interface ImportPlan {
  readonly format: ImportFormat;
  readonly items: readonly PlanItem[];
  readonly document: ImportDocument;
  /** Origin of each object of the document, in its order. */
  readonly origins: Readonly<Record<MergedKind, readonly Origin[]>>;
  readonly lists: readonly PlannedList[];
  /** For ids of the document's services, the ids in Weir's catalog that may be used instead. */
  readonly serviceAliases: Readonly<Record<string, string>>;
  readonly keys: readonly PlannedKey[];
  /** Time until which blocking is paused, in ISO 8601; null = not paused. */
  readonly pause: { readonly until: string; readonly items: Origin } | null;
  /** Devices with their addresses, according to the file. */
  readonly devices: readonly KnownDevice[];
  /** Queries by name, according to a log in the file; empty = there is none. */
  readonly queries: ReadonlyMap<string, number>;
}

/** A device by its MAC, in canonical form, and its address. */
export interface KnownDevice {
  readonly mac: string;
  readonly address: string;
}
