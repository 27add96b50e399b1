/** Messages between the compile pool and its threads. */
import type { ListReading } from '../parse/line-rules.ts';
import type { ListStatistics } from '../parse/list-statistics.ts';
import type { Overlap } from './list-overlap.ts';
import type { BuiltTable, TableSeeds } from './rule-table-builder.ts';
import type { WideRule } from './watched-names.ts';

/** One list on disk, uncompressed or gzip-compressed. */
export interface ListFile {
  readonly path: string;
  readonly reading: ListReading;
}

/** Lists to compile into one table; the index in the array is the source index. */
export interface CompileOrder {
  readonly lists: readonly ListFile[];
  /** Hash seeds of the active table. They are reused, because the caches of answers use the same hashes. */
  readonly seeds: TableSeeds;
  /** Expected number of names, see `RuleTableBuilder`. */
  readonly expectedNames: number;
  /** Path prefix of the names files that are written together with the table, see `names-file.ts`. */
  readonly namesPath?: string;
}

/** Progress of a job, in shared memory that is sent with the job. */
export interface JobProgress {
  /** One word: 0 = no thread has taken the job yet, other values = index of the current list plus one. */
  readonly progress: Int32Array;
}

/** Message to the thread. */
export interface CompileJob extends CompileOrder, JobProgress {
  /** Random id of this table, u32. */
  readonly build: number;
}

/** Data about a list, without its rules. */
export interface ListInspection {
  readonly statistics: ListStatistics;
  /** Those of the requested names that the list blocks. */
  readonly watched: readonly string[];
  /** Those of the requested names that the list allows. */
  readonly allowed: readonly string[];
  /** Rules that match every name: with conditions, or in custom rules that are clearly meant to. */
  readonly forEveryName: readonly WideRule[];
  /** Share of the address space that the rules of the list cover, 0 to 1. */
  readonly addressShare: number;
}

/** Statistics of an inactive list, and its overlap with active lists. */
export interface ListMeasure {
  readonly statistics: ListStatistics;
  readonly overlap: Overlap;
}

/** A table and the contribution of each list. */
export interface CompileOutcome {
  readonly table: BuiltTable;
  /** Special rules in the form of `shared/snapshot/special-rules.ts`. */
  readonly special: SharedArrayBuffer;
  readonly statistics: readonly ListStatistics[];
}
