/**
 * Plan of an import: a backup document that is merged into the current settings, and the items of the file that it
 * comes from. Every importer makes one. Plain data, as it crosses from a thread.
 */
import type { ImportFormat, ImportItemKind } from '../../../../shared/api/imports-api.ts';
import type { BackupFile } from '../../../../shared/api/policy/backup-api.ts';
import type { MergedKind } from '../../backup/merge-items.ts';

/** Weir's group Default in the document, which has `is_default` there; no group of a file has its name. */
export const DEFAULT_GROUP = 'Default';

/** One object of the file, for the report. */
export interface PlanItem {
  readonly kind: ImportItemKind;
  readonly name: string;
  /** Result that does not depend on Weir's state; null = the result of the objects made from the item. */
  readonly result: 'not_mapped' | 'skipped' | 'differs' | null;
  readonly reason: string | null;
  /** Of a rule, whether it allows or denies; null = there are rules of both kinds. */
  readonly action?: 'allow' | 'deny' | null;
  /** Names whose queries a differing item changes. */
  readonly domains?: readonly string[];
}

/** The kinds of a backup that imports make; `configuration` has the DNS settings only. */
export type ImportDocument = { readonly [Kind in MergedKind]: NonNullable<BackupFile[Kind]> };

/** A thing of the document. */
export type Thing<Kind extends MergedKind> = ImportDocument[Kind] extends (infer T)[] ? T : never;

/** Indexes of the items that a thing is made of. */
type Origin = readonly number[];

/** A list that Weir keeps as a file below a folder of `blocking.list_dirs`: a list source once that folder is known. */
export interface PlannedList {
  readonly source: Omit<Thing<'list_sources'>, 'url' | 'text'>;
  /** Name of the file, which is the same at the next import of the list. */
  readonly fileName: string;
  readonly text: string;
  readonly items: Origin;
}

/** A key of Weir's configuration that is offered. */
export interface PlannedKey {
  /** As in `dns.pools`. */
  readonly key: string;
  readonly value: unknown;
  readonly items: Origin;
  /** Reason why it is not ticked; null = it is. */
  readonly doubt: string | null;
  /** Whether Weir offers it, not the file: what is not chosen differs from the program before. */
  readonly isOwn?: boolean;
}

export interface ImportPlan {
  readonly format: ImportFormat;
  readonly items: readonly PlanItem[];
  readonly document: ImportDocument;
  /** Origin of each object of the document, in its order. */
  readonly origins: Readonly<Record<MergedKind, readonly Origin[]>>;
  readonly lists: readonly PlannedList[];
  /** Ids of the document's services, and those that Weir's catalog may have instead. */
  readonly serviceAliases: Readonly<Record<string, string>>;
  readonly keys: readonly PlannedKey[];
  /** Time until which blocking is paused, in ISO 8601; null = it is not. */
  readonly pause: { readonly until: string; readonly items: Origin } | null;
  /** Which device had an address, by the file. */
  readonly devices: readonly KnownDevice[];
  /** Queries by name, by a log in the file; empty = it has none. */
  readonly queries: ReadonlyMap<string, number>;
}

/** A device by its MAC, in canonical form, and its address. */
export interface KnownDevice {
  readonly mac: string;
  readonly address: string;
}
