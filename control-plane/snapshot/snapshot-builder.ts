/** Puts a snapshot together: the lists' tables as they were compiled, the manual rules and the policy anew. */
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import {
  type BlockingSettings,
  type CompiledRules,
  type LivePolicy,
  type PolicyRows,
  seedsOf,
} from './compiled-rules.ts';
import { buildClientTable } from './client-table-builder.ts';
import { buildManualRules } from './manual-rules.ts';
import { buildPolicyTable } from './policy-table-builder.ts';

/** Builds snapshot `version`. */
export function buildSnapshot(
  version: number,
  compiled: CompiledRules,
  rows: PolicyRows,
  blocking: BlockingSettings,
  live: LivePolicy,
): SnapshotBuffers {
  const manual = buildManualRules(rows, seedsOf(compiled.rules));
  return {
    version,
    rules: compiled.rules,
    special: compiled.special,
    manual: manual.names,
    manualSpecial: manual.special,
    policy: buildPolicyTable(version, compiled, rows, manual, { blocking, live }),
    clients: buildClientTable(rows, live),
    names: live.names,
  };
}
