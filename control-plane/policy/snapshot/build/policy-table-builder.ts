/**
 * Builds the policy table of `shared/snapshot/policy-table.ts`: the effect of each attribute of the rule table on each
 * group, and the answers to blocked queries. Pure, and fast enough for the event loop of the control plane.
 */
import { DEFAULT_GROUP_ID } from '../../../../shared/api/policy/groups-api.ts';
import { addressFromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import {
  LAYOUT_VERSION,
  POLICY_TABLE_MAGIC,
  PolicyTableLayout as L,
  checksumWords,
} from '../../../../shared/snapshot/layout.ts';
import {
  AddressFamily,
  BlockingMode,
  GROUP_NO_IPV6,
  GroupOverride,
} from '../../../../shared/snapshot/policy-table.ts';
import {
  type AttributeTable,
  attributeCount,
  forEachPair,
  forEachPairLeft,
  hasDisabledRules,
} from '../../compile/table/attribute-table.ts';
import { isBlockingEnabled } from '../../change/blocking-switch.ts';
import type { BlockingSettings } from '../../change/blocking-settings.ts';
import type { CompiledRules } from '../../compile/table/compiled-rules.ts';
import type { LivePolicy } from '../../change/runtime-state.ts';
import type { PolicyGroup, PolicyRows } from '../../change/rows.ts';

/** Data for interpreting the table of manual rules, see `manual-rules.ts`. */
export interface ManualMeaning {
  readonly attributes: AttributeTable;
  /** Group of each owner of manual rules; null = every group. */
  readonly owners: readonly (number | null)[];
}

/** Inputs of a policy other than rules and rows. */
export interface PolicyCircumstances {
  readonly blocking: BlockingSettings;
  readonly live: LivePolicy;
}

/**
 * Builds the policy of snapshot `version`. The group Default is always at index 0, even if the rows do not contain it.
 */
export function buildPolicyTable(
  version: number,
  compiled: CompiledRules,
  rows: PolicyRows,
  manual: ManualMeaning,
  { blocking, live }: PolicyCircumstances,
): SharedArrayBuffer {
  const groups = orderGroups(rows.groups);
  const classes = classify(groups, compiled, rows, manual.owners);
  const allowing = allowlistsOf(classes.served, compiled, rows);
  const matrices = [
    kindMatrix(compiled.attributes, classes.served),
    flagMatrix(classes.served),
    kindMatrix(manual.attributes, classes.owned),
    flagMatrix(classes.owned),
    kindMatrix(compiled.attributes, classes.served, allowing),
    flagMatrix(allowing),
  ];
  let at = (L.HEADER_WORDS + groups.length * L.GROUP_ROW_WORDS) * 4;
  const size = matrices.reduce((sum, matrix) => sum + matrix.length, at);
  const buffer = new SharedArrayBuffer((size + 3) & ~3);
  const words = new Uint32Array(buffer);
  words[L.MAGIC_WORD] = POLICY_TABLE_MAGIC;
  words[L.VERSION_WORD] = LAYOUT_VERSION;
  words[L.SNAPSHOT_VERSION_WORD] = version;
  words[L.GROUP_COUNT_WORD] = groups.length;
  words[L.CLASS_COUNT_WORD] = classes.served.length;
  words[L.ATTRIBUTE_COUNT_WORD] = attributeCount(compiled.attributes);
  words[L.SOURCE_COUNT_WORD] = compiled.sources.length;
  words[L.MANUAL_ATTRIBUTE_COUNT_WORD] = attributeCount(manual.attributes);
  words[L.MANUAL_OWNER_COUNT_WORD] = manual.owners.length;
  words[L.QUESTION_FLAGS_WORD] = live.questionFlags;
  writeBlocking(buffer, blocking, isBlockingEnabled(rows.blockingSwitch, blocking.enabled, live.nowMs));
  writeGroups(words, groups, classes.ofGroup, live);
  for (const matrix of matrices) {
    new Uint8Array(buffer).set(matrix, at);
    at += matrix.length;
  }
  words[L.CHECKSUM_WORD] = checksumWords(words, L.HEADER_WORDS);
  return buffer;
}

/** One row per group: its class, and the override of its schedule with its end. */
function writeGroups(
  words: Uint32Array,
  groups: readonly PolicyGroup[],
  classOf: readonly number[],
  { overrides }: LivePolicy,
): void {
  for (const [index, group] of groups.entries()) {
    const row = L.HEADER_WORDS + index * L.GROUP_ROW_WORDS;
    const scheduled = overrides.get(effectiveGroupId(group));
    words[row] = group.id;
    words[row + 1] = classOf[index]!;
    const { noIpv6 = false } = group.enabled ? group : groups[0]!;
    words[row + 2] = GroupOverride[scheduled?.override ?? 'None'] | (noIpv6 ? GROUP_NO_IPV6 : 0);
    words[row + 3] = scheduled?.nextFlipAtSecs ?? 0;
  }
}

/**
 * One row per class, one byte per attribute: the union of the bits of the sources that are active for the class,
 * optionally only of the given sources.
 */
function kindMatrix(
  table: AttributeTable,
  served: readonly (readonly boolean[])[],
  counted: readonly (readonly boolean[])[] = served,
): Uint8Array {
  const attributes = attributeCount(table);
  const kinds = new Uint8Array(served.length * attributes);
  for (let attribute = 0; attribute < attributes; attribute++) {
    if (hasDisabledRules(table, attribute)) {
      for (const [index, serves] of served.entries())
        forEachPairLeft(
          table,
          attribute,
          (by) => serves[by] === true,
          (source, bits) => {
            if (counted[index]![source] === true) kinds[index * attributes + attribute]! |= bits;
          },
        );
      continue;
    }
    forEachPair(table, attribute, (source, bits) => {
      for (let index = 0; index < served.length; index++)
        if (counted[index]![source] === true) kinds[index * attributes + attribute]! |= bits;
    });
  }
  return kinds;
}

/** The allowlists among the active sources of each class. */
function allowlistsOf(
  served: readonly (readonly boolean[])[],
  { sources }: Pick<CompiledRules, 'sources'>,
  rows: Pick<PolicyRows, 'sources'>,
): boolean[][] {
  const kinds = new Map(rows.sources.map(({ id, kind }) => [id, kind]));
  const isAllowlist = sources.map(({ id }) => kinds.get(id) === 'allow');
  return served.map((serves) => serves.map((flag, index) => flag && isAllowlist[index]!));
}

function flagMatrix(served: readonly (readonly boolean[])[]): Uint8Array {
  const matrix = new Uint8Array(served.length * (served[0]?.length ?? 0));
  let at = 0;
  for (const flags of served) for (const flag of flags) matrix[at++] = flag ? 1 : 0;
  return matrix;
}

/**
 * For each compiled source, by index, whether it is active for the group: it is enabled, could be read, and is assigned
 * to the group or to all groups.
 */
export function sourcesServing(
  group: PolicyGroup | undefined,
  compiled: Pick<CompiledRules, 'sources'>,
  rows: Pick<PolicyRows, 'sources'>,
): boolean[] {
  const id = effectiveGroupId(group);
  return groupsServed(compiled, rows).map((served) => served === 'all' || served.has(id));
}

/** The groups to which each compiled source is assigned, by index. */
function groupsServed(
  { sources }: Pick<CompiledRules, 'sources'>,
  rows: Pick<PolicyRows, 'sources'>,
): (ReadonlySet<number> | 'all')[] {
  const byId = new Map(rows.sources.map((source) => [source.id, source]));
  return sources.map(({ id, statistics }) => {
    const source = byId.get(id);
    if (source === undefined || !source.enabled || statistics.fault !== null) return new Set();
    return source.groupIds.length === 0 ? 'all' : new Set(source.groupIds);
  });
}

/** Groups in the order of their indexes in the policy table: Default first, then by id. */
export function orderGroups(groups: readonly PolicyGroup[]): PolicyGroup[] {
  const others = groups.filter((group) => group.id !== DEFAULT_GROUP_ID).sort((a, b) => a.id - b.id);
  const noIpv6 = groups.find(({ id }) => id === DEFAULT_GROUP_ID)?.noIpv6 ?? false;
  return [{ id: DEFAULT_GROUP_ID, enabled: true, noIpv6 }, ...others];
}

/** The id of the group whose rules apply: the group itself, or Default if the group is disabled. */
export function effectiveGroupId(group: PolicyGroup | undefined): number {
  return group?.enabled === true ? group.id : DEFAULT_GROUP_ID;
}

/** Groups with the same active sources and the same manual rules share a class. */
function classify(
  groups: readonly PolicyGroup[],
  compiled: CompiledRules,
  rows: PolicyRows,
  owners: readonly (number | null)[],
): { ofGroup: number[]; served: boolean[][]; owned: boolean[][] } {
  const served: boolean[][] = [];
  const owned: boolean[][] = [];
  const known = new Map<string, number>();
  const owning = new Set(owners);
  const servedBy = groupsServed(compiled, rows);
  const ofGroup = groups.map((group) => {
    const id = effectiveGroupId(group);
    const flags = servedBy.map((groupIds) => groupIds === 'all' || groupIds.has(id));
    // Rules for every group do not matter for the class; a group with its own manual rules gets its own class.
    const key = `${flags.map(Number).join('')} ${owning.has(id) ? id : 'none'}`;
    let policyClass = known.get(key);
    if (policyClass === undefined) {
      policyClass = served.push(flags) - 1;
      owned.push(owners.map((owner) => owner === null || owner === id));
      known.set(key, policyClass);
    }
    return policyClass;
  });
  return { ofGroup, served, owned };
}

function writeBlocking(buffer: SharedArrayBuffer, blocking: BlockingSettings, enabled: boolean): void {
  const words = new Uint32Array(buffer);
  words[L.BLOCKING_ENABLED_WORD] = enabled ? 1 : 0;
  words[L.BLOCKING_MODE_WORD] = BlockingMode[blocking.mode];
  words[L.BLOCKING_TTL_SECS_WORD] = blocking.ttlSecs;
  words[L.ADDRESS_FAMILIES_WORD] = AddressFamily.IPV4 | AddressFamily.IPV6;
  // In every other mode, the addresses remain zero, as for `null_ip`, even if custom addresses are configured.
  if (blocking.mode !== 'custom_ip') return;
  let families = 0;
  const ipv4 = addressFromText(blocking.customIpv4);
  if (ipv4 !== null && isMappedIpv4(ipv4)) {
    new Uint8Array(buffer, L.CUSTOM_IPV4_BYTE, 4).set(ipv4.subarray(12));
    families |= AddressFamily.IPV4;
  }
  const ipv6 = addressFromText(blocking.customIpv6);
  if (ipv6 !== null && !isMappedIpv4(ipv6)) {
    new Uint8Array(buffer, L.CUSTOM_IPV6_BYTE, 16).set(ipv6);
    families |= AddressFamily.IPV6;
  }
  words[L.ADDRESS_FAMILIES_WORD] = families;
}
