/** The snapshot from which a thread answers: replaced as a whole between two batches, never modified. */
import { ClientTable } from '../../shared/snapshot/client-table.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import { KeyedClients } from '../../shared/snapshot/keyed-clients.ts';
import { LocalNames } from '../../shared/snapshot/local-name-table.ts';
import { NamedClients } from '../../shared/snapshot/named-clients.ts';
import { PolicyTable } from '../../shared/snapshot/policy-table.ts';
import { RuleTable } from '../../shared/snapshot/rule-table.ts';
import { SpecialMatcher } from '../../shared/snapshot/special-matcher.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import { GrantTable } from './grant-table.ts';
import { NameTable } from './name-table.ts';
import { SafeSearchTable } from './safe-search-table.ts';

/** A snapshot opened for reading. */
export interface OpenSnapshot {
  readonly version: number;
  readonly rules: RuleTable;
  /** Patterns and conditional rules of the lists. */
  readonly special: SpecialMatcher;
  /** Managed domains and blocked services; regex filters. */
  readonly manual: RuleTable;
  readonly manualSpecial: SpecialMatcher;
  readonly policy: PolicyTable;
  readonly local: LocalNames;
  readonly clients: ClientTable;
  readonly keys: KeyedClients;
  readonly namedClients: NamedClients;
  /** Forward zones, and the index of a name's zone among them. */
  readonly zones: readonly ForwardZone[];
  readonly zoneNames: NameTable;
  /** Whether any rule applies to addresses in answers. */
  readonly checksAddresses: boolean;
  readonly safeSearch: SafeSearchTable;
  readonly grants: GrantTable;
  /** Names that may have private addresses. */
  readonly rebinding: { readonly isOn: boolean; readonly exempt: NameTable };
}

/**
 * Opens the buffers of a snapshot; reuses the opened special rules of `before` (list rules and manual rules) if
 * they are unchanged. Throws a RangeError if a layout has another version.
 */
export function openSnapshot(buffers: SnapshotBuffers, before?: OpenSnapshot): OpenSnapshot {
  const rules = new RuleTable(buffers.rules);
  const { seedLow, seedHigh } = rules;
  const policy = new PolicyTable(buffers.policy);
  const groupIds = groupIdsOf(policy);
  const { forwardZones: zones, rebinding, safeSearch, grants } = buffers.names;
  const manual = new RuleTable(buffers.manual);
  const special =
    before !== undefined && isSameTable(before.rules, rules)
      ? before.special
      : new SpecialMatcher(buffers.special, seedLow, seedHigh);
  const manualSpecial =
    before !== undefined && isSameTable(before.manual, manual)
      ? before.manualSpecial
      : new SpecialMatcher(buffers.manualSpecial, seedLow, seedHigh);
  const zoneNames = zones.flatMap(({ names }, number) => names.map((name) => ({ name, number })));
  const exemptNames = rebinding.exempt.map((name) => ({ name, number: 0 }));
  return {
    version: buffers.version,
    rules,
    special,
    manual,
    manualSpecial,
    policy,
    local: new LocalNames(buffers.local),
    clients: new ClientTable(buffers.clients),
    keys: new KeyedClients(buffers.keys, before?.keys),
    namedClients: new NamedClients(buffers.namedClients),
    zones,
    zoneNames: new NameTable(zoneNames, seedLow, seedHigh),
    checksAddresses: rules.addressCount + special.addressRuleCount + manualSpecial.addressRuleCount > 0,
    safeSearch: new SafeSearchTable(safeSearch, groupIds, seedLow, seedHigh),
    grants: new GrantTable(grants, groupIds, seedLow, seedHigh),
    rebinding: { isOn: rebinding.isOn, exempt: new NameTable(exemptNames, seedLow, seedHigh) },
  };
}

/** Whether both tables come from the same build; special rules are built together with their names. */
export function isSameTable(before: RuleTable, now: RuleTable): boolean {
  return before.build === now.build && before.nameCount === now.nameCount;
}

function groupIdsOf(policy: PolicyTable): number[] {
  return Array.from({ length: policy.groupCount }, (_, index) => policy.groupId(index));
}
