/** The snapshot a thread answers from: replaced whole between two batches, never edited. */
import { PolicyTable } from '../shared/snapshot/policy-table.ts';
import { RuleTable } from '../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../shared/snapshot/snapshot.ts';

/** A snapshot opened for reading. */
export interface OpenSnapshot {
  readonly version: number;
  readonly rules: RuleTable;
  readonly policy: PolicyTable;
}

/** Opens the buffers of a snapshot; throws a RangeError where they are of another layout. */
export function openSnapshot(buffers: SnapshotBuffers): OpenSnapshot {
  return {
    version: buffers.version,
    rules: new RuleTable(buffers.rules),
    policy: new PolicyTable(buffers.policy),
  };
}

/**
 * Frees a rule table that was just replaced. A thread that allocates nothing would otherwise keep it for
 * hours; on a heap as small as this one's a collection takes a few milliseconds, once a compile. Without
 * `--expose-gc` (unit tests) the collector comes when it comes.
 */
export function freeReplacedTable(before: RuleTable, now: RuleTable): void {
  if (before.build !== now.build) (globalThis as { gc?: () => void }).gc?.();
}
