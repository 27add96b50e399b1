/**
 * Effect of the rules on each group, and the answer to a blocked query: a small table, which
 * `control-plane/policy/snapshot/build/policy-table-builder.ts` builds again when a group, a source's assignment or a
 * blocking setting changes; the rule table stays the same.
 */
import { LAYOUT_VERSION, POLICY_TABLE_MAGIC, PolicyTableLayout as L } from './layout.ts';

/** Answer given to a blocked query (`blocking.mode`). */
export const BlockingMode = { null_ip: 0, nxdomain: 1, nodata: 2, refused: 3, custom_ip: 4 } as const;
export type BlockingModeName = keyof typeof BlockingMode;
export type BlockingModeCode = (typeof BlockingMode)[BlockingModeName];

/** Families of addresses, one bit each. */
export const AddressFamily = { IPV4: 1, IPV6: 2 } as const;

/** Current state of a group's schedule. */
export const GroupOverride = { None: 0, BlockAll: 1, AllowAll: 2 } as const;
export type GroupOverrideCode = (typeof GroupOverride)[keyof typeof GroupOverride];
/** Bit beside a group's override: clients of the group get no IPv6 addresses. */
export const GROUP_NO_IPV6 = 0x100;

/** Flags for special-use names, see `dns-worker/stages/special-use-names.ts`. */
export const QuestionFlag = {
  BLOCK_PRIVATE_PTR: 1,
  BLOCK_NON_FQDN: 2,
  NEVER_FORWARD_NON_FQDN: 4,
  NEVER_FORWARD_REVERSE: 8,
  SPECIAL_NAMES: 16,
  DOH_CANARY: 32,
  PRIVATE_RELAY_CANARY: 64,
} as const;

/** Read side of a policy table. */
export class PolicyTable {
  readonly snapshotVersion: number;
  readonly groupCount: number;
  readonly attributeCount: number;
  readonly blockingEnabled: boolean;
  readonly blockingMode: BlockingModeCode;
  readonly blockingTtlSecs: number;
  /** `QuestionFlag` bits. */
  readonly questionFlags: number;
  /** Whether blocked A and AAAA queries are answered with an address; if not, with NODATA. */
  readonly givesIpv4: boolean;
  readonly givesIpv6: boolean;
  /** Addresses in answers to blocked queries: 4 and 16 bytes in network byte order. */
  readonly customIpv4: Uint8Array;
  readonly customIpv6: Uint8Array;
  private readonly words: Uint32Array;
  private readonly kinds: Uint8Array;
  private readonly served: Uint8Array;
  private readonly manualKinds: Uint8Array;
  private readonly manualServed: Uint8Array;
  private readonly allowlistKinds: Uint8Array;
  private readonly allowlists: Uint8Array;
  private readonly sourceCount: number;
  /** Rows of `served` and `manualServed`, one view per policy class, created when first used. */
  private readonly sources: Uint8Array[] = [];
  private readonly owners: Uint8Array[] = [];
  readonly manualAttributeCount: number;
  private readonly manualOwnerCount: number;

  /** Wraps `buffer`; throws a RangeError if it is not a policy table of this layout. */
  constructor(buffer: SharedArrayBuffer) {
    const words = new Uint32Array(buffer, 0, buffer.byteLength >>> 2);
    if (words[L.MAGIC_WORD] !== POLICY_TABLE_MAGIC || words[L.VERSION_WORD] !== LAYOUT_VERSION)
      throw new RangeError('could not read a policy table: it has a different layout');
    this.words = words;
    this.snapshotVersion = words[L.SNAPSHOT_VERSION_WORD]!;
    this.groupCount = words[L.GROUP_COUNT_WORD]!;
    this.attributeCount = words[L.ATTRIBUTE_COUNT_WORD]!;
    this.blockingEnabled = words[L.BLOCKING_ENABLED_WORD] === 1;
    this.blockingMode = words[L.BLOCKING_MODE_WORD]! as BlockingModeCode;
    this.blockingTtlSecs = words[L.BLOCKING_TTL_SECS_WORD]!;
    this.questionFlags = words[L.QUESTION_FLAGS_WORD]!;
    this.givesIpv4 = (words[L.ADDRESS_FAMILIES_WORD]! & AddressFamily.IPV4) !== 0;
    this.givesIpv6 = (words[L.ADDRESS_FAMILIES_WORD]! & AddressFamily.IPV6) !== 0;
    this.customIpv4 = new Uint8Array(buffer, L.CUSTOM_IPV4_BYTE, 4);
    this.customIpv6 = new Uint8Array(buffer, L.CUSTOM_IPV6_BYTE, 16);
    this.sourceCount = words[L.SOURCE_COUNT_WORD]!;
    this.manualAttributeCount = words[L.MANUAL_ATTRIBUTE_COUNT_WORD]!;
    this.manualOwnerCount = words[L.MANUAL_OWNER_COUNT_WORD]!;
    const classes = words[L.CLASS_COUNT_WORD]!;
    let at = (L.HEADER_WORDS + this.groupCount * L.GROUP_ROW_WORDS) * 4;
    const take = (columns: number): Uint8Array => {
      if (at + classes * columns > buffer.byteLength)
        throw new RangeError('could not read a policy table: it is shorter than its header says');
      const matrix = new Uint8Array(buffer, at, classes * columns);
      at += matrix.length;
      return matrix;
    };
    this.kinds = take(this.attributeCount);
    this.served = take(this.sourceCount);
    this.manualKinds = take(this.manualAttributeCount);
    this.manualServed = take(this.manualOwnerCount);
    this.allowlistKinds = take(this.attributeCount);
    this.allowlists = take(this.sourceCount);
  }

  /** Id of the group at `index`; the group Default is index 0. */
  groupId(index: number): number {
    return this.words[L.HEADER_WORDS + index * L.GROUP_ROW_WORDS]!;
  }

  /** Policy class of the group at `index`; groups with the same sources share a class. */
  groupClass(index: number): number {
    return this.words[L.HEADER_WORDS + index * L.GROUP_ROW_WORDS + 1]!;
  }

  /** Current state of the schedule of the group at `index`. */
  groupOverride(index: number): GroupOverrideCode {
    return (this.words[L.HEADER_WORDS + index * L.GROUP_ROW_WORDS + 2]! &
      ~GROUP_NO_IPV6) as GroupOverrideCode;
  }

  /** Whether clients of the group at `index` get no IPv6 addresses. */
  hidesIpv6(index: number): boolean {
    return (this.words[L.HEADER_WORDS + index * L.GROUP_ROW_WORDS + 2]! & GROUP_NO_IPV6) !== 0;
  }

  /** Unix seconds at which the schedule of the group at `index` changes next; 0 = unknown. */
  groupNextFlipAtSecs(index: number): number {
    return this.words[L.HEADER_WORDS + index * L.GROUP_ROW_WORDS + 3]!;
  }

  /** Union of the `RuleKind` bits of `attribute` for `policyClass`. */
  kindsOf(policyClass: number, attribute: number): number {
    return this.kinds[policyClass * this.attributeCount + attribute]!;
  }

  /** Union of the `RuleKind` bits of allowlists alone, which take precedence over blocklists. */
  allowlistKindsOf(policyClass: number, attribute: number): number {
    return this.allowlistKinds[policyClass * this.attributeCount + attribute]!;
  }

  /** Whether the list with this source index is an allowlist that is active for the class. */
  isAllowlist(policyClass: number, source: number): boolean {
    return this.allowlists[policyClass * this.sourceCount + source] === 1;
  }

  /** Whether the list with this source index is active for the class. */
  isServed(policyClass: number, source: number): boolean {
    return this.served[policyClass * this.sourceCount + source] === 1;
  }

  /** Flags by source index: 1 for each list that is active for the class. */
  sourcesOf(policyClass: number): Uint8Array {
    const from = policyClass * this.sourceCount;
    return (this.sources[policyClass] ??= this.served.subarray(from, from + this.sourceCount));
  }

  /** Union of the `ManualKind` bits of an attribute of the manual table for `policyClass`. */
  manualKindsOf(policyClass: number, attribute: number): number {
    return this.manualKinds[policyClass * this.manualAttributeCount + attribute]!;
  }

  /** Flags by owner: 1 for each owner whose manual rules are for the class. */
  ownersOf(policyClass: number): Uint8Array {
    const from = policyClass * this.manualOwnerCount;
    return (this.owners[policyClass] ??= this.manualServed.subarray(from, from + this.manualOwnerCount));
  }
}
