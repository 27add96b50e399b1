import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import type { CompiledRules } from '../compile/table/compiled-rules.ts';
import type { PolicyRows } from '../change/rows.ts';

/** A snapshot with its inputs. */
export interface PublishedState {
  readonly snapshot: SnapshotBuffers;
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
  /** Time of publication, Unix milliseconds; absent = it was not published. */
  readonly publishedAtMs?: number;
}
