/** Assembles a snapshot from the compiled tables of the lists and from newly built manual rules and policy. */
import type { SnapshotBuffers } from '../../../../shared/snapshot/snapshot.ts';
import { type BlockingSettings } from '../../change/blocking-settings.ts';
import { isSameAccess } from '../../../../shared/policy/access.ts';
import { type CompiledRules, clientNamesOf, seedsOf } from '../../compile/table/compiled-rules.ts';
import { type LivePolicy } from '../../change/runtime-state.ts';
import { type PolicyRows } from '../../change/rows.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import type { NamedClient } from '../../../../shared/snapshot/named-clients.ts';
import { buildClientTable, isSameForClients } from './client-table-builder.ts';
import { areSameKeyed, buildKeyedClients } from './keyed-clients-builder.ts';
import { buildLocalNames } from './local-names-builder.ts';
import { isSameForLocalNames, localRecords } from './snapshot-records.ts';
import { buildLocalTree } from './local-tree.ts';
import { buildManualRules, isSameForManualRules, type ManualRules } from './manual-rules.ts';
import { buildPolicyTable } from './policy-table-builder.ts';

/** Inputs of a snapshot. */
export interface SnapshotParts {
  readonly version: number;
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
  readonly blocking: BlockingSettings;
  readonly live: LivePolicy;
}

/** A snapshot with its inputs. */
export interface BuiltSnapshot extends SnapshotParts {
  readonly snapshot: SnapshotBuffers;
  readonly manual: ManualRules;
}

/** Builds snapshot `version`. */
export function buildSnapshot(
  version: number,
  compiled: CompiledRules,
  rows: PolicyRows,
  blocking: BlockingSettings,
  live: LivePolicy,
): SnapshotBuffers {
  return buildSnapshotAfter(undefined, { version, compiled, rows, blocking, live }).snapshot;
}

/** Builds a snapshot that reuses the unchanged parts of the previous one. */
export function buildSnapshotAfter(before: BuiltSnapshot | undefined, parts: SnapshotParts): BuiltSnapshot {
  const { version, compiled, rows, blocking, live } = parts;
  const seeds = seedsOf(compiled.rules);
  const manual =
    before !== undefined && isSameForManualRules(before, parts)
      ? before.manual
      : buildManualRules(rows, live.nowMs, seeds, before);
  const snapshot: SnapshotBuffers = {
    version,
    rules: compiled.rules,
    special: compiled.special,
    manual: manual.names,
    manualSpecial: manual.special,
    policy: buildPolicyTable(version, compiled, rows, manual, { blocking, live }),
    local:
      before !== undefined && isSameForLocalNames(before, parts)
        ? before.snapshot.local
        : buildLocalNames(buildLocalTree(localRecords(rows, live)), seeds),
    clients:
      before !== undefined && isSameForClients(before, parts)
        ? before.snapshot.clients
        : buildClientTable(rows, live),
    keys:
      before !== undefined &&
      areSameKeyed(before.rows.keyedClients, rows.keyedClients) &&
      isSameAccess(before.live.access, live.access)
        ? before.snapshot.keys
        : buildKeyedClients(rows, live.access),
    namedClients: namedClients(compiled, live),
    names: live.names,
  };
  return { ...parts, snapshot, manual };
}

/** Current addresses of the clients that rules identify. */
function namedClients(compiled: CompiledRules, { findClients }: LivePolicy): NamedClient[] {
  const names = clientNamesOf(compiled);
  if (names.length === 0) return [];
  return findClients(names).map(({ name, addresses }) => ({
    name,
    addresses: Buffer.concat(addresses.flatMap((address) => addressFromText(address) ?? [])),
  }));
}
