/** Messages between the compile pool and its thread. */
import type { ListReading } from '../parse/line-rules.ts';
import type { ListStatistics } from '../parse/list-statistics.ts';
import type { Overlap } from './list-overlap.ts';
import type { BuiltTable, TableSeeds } from './rule-table-builder.ts';
import type { WideRule } from './watched-names.ts';

/** One list on disk, plain or gzip-compressed. */
export interface ListFile {
  readonly path: string;
  readonly reading: ListReading;
}

/** Lists to compile into one table; the position in the array becomes the source index. */
export interface CompileOrder {
  readonly lists: readonly ListFile[];
  /** Seeds of the active table: answers are cached under the same hashes. */
  readonly seeds: TableSeeds;
  /** Expected number of names, see `RuleTableBuilder`. */
  readonly expectedNames: number;
  /** Path prefix of the names files to write together with the table, see `names-file.ts`. */
  readonly namesPath?: string;
}

/** Shared memory that is sent with every job. */
export interface JobProgress {
  /** One word: 0 = no thread has taken the job yet, else the position of the current list plus one. */
  readonly progress: Int32Array;
}

/** Message to the thread. */
export interface CompileJob extends CompileOrder, JobProgress {
  /** u32, random. */
  readonly build: number;
}

/** Data about a list, without its rules. */
export interface ListInspection {
  readonly statistics: ListStatistics;
  /** Requested names that the list blocks. */
  readonly watched: readonly string[];
  /** Requested names that the list allows. */
  readonly allowed: readonly string[];
  /** Rules that match every name, under conditions or on purpose. */
  readonly forEveryName: readonly WideRule[];
  /** Share of the address space that its rules cover, 0 to 1. */
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
  /** See `shared/snapshot/special-rules.ts`. */
  readonly special: SharedArrayBuffer;
  readonly statistics: readonly ListStatistics[];
}
