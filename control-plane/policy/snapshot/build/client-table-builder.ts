/**
 * Builds the client table of `shared/snapshot/client-table.ts` from groups that users assigned (by MAC, by address, by
 * subnet) and from the addresses of known MACs. The builder resolves nesting and precedence, so that threads search
 * ranges that do not overlap.
 */
import { addressFromText, addressWord, ipv4FromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { isSameAccess } from '../../../../shared/policy/access.ts';
import { ClientGroupSource } from '../../../../shared/snapshot/client-table.ts';
import {
  CLIENT_TABLE_MAGIC,
  ClientTableLayout as L,
  LAYOUT_VERSION,
} from '../../../../shared/snapshot/layout.ts';
import type { ExcludedAddress, LivePolicy } from '../../change/runtime-state.ts';
import type { PolicyClient, PolicyRows } from '../../change/rows.ts';
import { accessMarks, overlay, type Ranges } from './access-marks.ts';
import { exclusionMarks } from './exclusion-marks.ts';
import { Ipv4Prefixes, MAX_RECORD } from './ipv4-ranges.ts';
import { areSameKeyed, withGroups } from './keyed-clients-builder.ts';
import { effectiveGroupId, orderGroups } from './policy-table-builder.ts';

type SourceCode = (typeof ClientGroupSource)[keyof typeof ClientGroupSource];

/** All addresses of an IPv6 prefix. */
interface Prefix {
  readonly start: bigint;
  readonly end: bigint;
  /**
   * Of two prefixes with the same start, the longer one is inside the other. Of equal prefixes, the one with the higher
   * source code applies.
   */
  readonly length: number;
  readonly source: SourceCode;
  readonly record: number;
}

const IPV4_BITS = 32;
const IPV6_BITS = 128;
const MAPPED_BITS = IPV6_BITS - IPV4_BITS;
const LAST_IPV6 = (1n << BigInt(IPV6_BITS)) - 1n;
const HALF = 64n;
/** Third word of an IPv4 address in IPv6 form. */
const MAPPED_WORD = 0xffff;
const SIGN_BIT = 0x80000000;

/**
 * Builds the table. A group by MAC takes precedence over one by address, which takes precedence over one by subnet; a
 * longer prefix takes precedence over a shorter one. Clients with keys are found by their keys. A disabled or deleted
 * group is replaced by Default. IPv6 prefixes never match IPv4 clients, not even `::/0`. Rows with an invalid address
 * are skipped. Access rights and exclusions are added independently of groups.
 */
export function buildClientTable(rows: PolicyRows, live: LivePolicy): SharedArrayBuffer {
  const collector = new PrefixCollector(
    rows,
    rows.keyedClients.length + rows.subnets.length + rows.clients.length + live.clientAddresses.length,
  );
  for (const { clientId, groupId } of withGroups(rows.keyedClients)) collector.addKeyed(clientId, groupId);
  for (const { cidr, groupId } of rows.subnets) collector.addSubnet(cidr, groupId);
  for (const { address, groupId } of rows.clients)
    collector.addAddress(address, groupId, ClientGroupSource.manual);
  for (const { address, groupId } of live.clientAddresses)
    collector.addAddress(address, groupId, ClientGroupSource.mac);
  const access = accessMarks(live.access);
  const exclusions = exclusionMarks(live.excludedAddresses);
  return encode(
    collector.written(),
    overlay(overlay(collector.ipv4.flatten(), access.ipv4), exclusions.ipv4),
    overlay(overlay(flatten(collector.ipv6), access.ipv6), exclusions.ipv6),
  );
}

/** Whether the tables for two inputs would be equal, because all relevant parts of the inputs are equal. */
export function isSameForClients(
  a: { readonly rows: PolicyRows; readonly live: LivePolicy },
  b: { readonly rows: PolicyRows; readonly live: LivePolicy },
): boolean {
  return (
    areSame(a.rows.groups, b.rows.groups, (x, y) => x.id === y.id && x.enabled === y.enabled) &&
    areSame(a.rows.subnets, b.rows.subnets, (x, y) => x.cidr === y.cidr && x.groupId === y.groupId) &&
    areSame(a.rows.clients, b.rows.clients, isSameClient) &&
    areSameKeyed(a.rows.keyedClients, b.rows.keyedClients) &&
    areSame(a.live.clientAddresses, b.live.clientAddresses, isSameClient) &&
    areSame(a.live.excludedAddresses, b.live.excludedAddresses, isSameExcluded) &&
    isSameAccess(a.live.access, b.live.access)
  );
}

function isSameClient(a: PolicyClient, b: PolicyClient): boolean {
  return a.address === b.address && a.groupId === b.groupId;
}

function isSameExcluded(a: ExcludedAddress, b: ExcludedAddress): boolean {
  return a.address === b.address && a.exclusion === b.exclusion;
}

function areSame<T>(a: readonly T[], b: readonly T[], isSame: (x: T, y: T) => boolean): boolean {
  return a === b || (a.length === b.length && a.every((x, index) => isSame(x, b[index]!)));
}

/** Collects prefixes by family, and writes the words of their records. */
class PrefixCollector {
  readonly ipv4: Ipv4Prefixes;
  readonly ipv6: Prefix[] = [];
  /** `RECORD_WORDS` words for each record; record 0 is for clients without a record. */
  private readonly records: Int32Array;
  private recordCount = 1;
  private readonly groupIndices: ReadonlyMap<number, number>;

  /** Reserves space for `capacity` prefixes; throws a RangeError if this is too many. */
  constructor({ groups }: PolicyRows, capacity: number) {
    if (capacity > MAX_RECORD)
      throw new RangeError(`could not build the client table: ${capacity} clients are too many`);
    this.ipv4 = new Ipv4Prefixes(capacity);
    this.records = new Int32Array((capacity + 1) * L.RECORD_WORDS);
    this.records[1] = ClientGroupSource.default << 8;
    const ordered = orderGroups(groups);
    const indices = new Map(ordered.map((group, index) => [group.id, index]));
    this.groupIndices = new Map(ordered.map((group) => [group.id, indices.get(effectiveGroupId(group))!]));
  }

  /** Words of all records. */
  written(): Int32Array {
    return this.records.subarray(0, this.recordCount * L.RECORD_WORDS);
  }

  /** Adds a client with a key; no address refers to its record. */
  addKeyed(clientId: number, groupId: number): void {
    const at = this.beginRecord(groupId, ClientGroupSource.key, 0);
    this.records[at + 3] = clientId;
  }

  addSubnet(cidr: string, groupId: number): void {
    const slash = cidr.lastIndexOf('/');
    if (!cidr.includes(':')) {
      const ipv4 = ipv4FromText(cidr.slice(0, Math.max(slash, 0)));
      this.addIpv4(ipv4, Number(cidr.slice(slash + 1)), groupId, ClientGroupSource.subnet);
      return;
    }
    const address = addressFromText(cidr.slice(0, Math.max(slash, 0)));
    const length = Number(cidr.slice(slash + 1));
    if (address === null) return;
    this.add(address, length, groupId, ClientGroupSource.subnet);
  }

  addAddress(text: string, groupId: number, source: SourceCode): void {
    if (!text.includes(':')) {
      this.addIpv4(ipv4FromText(text), IPV4_BITS, groupId, source);
      return;
    }
    const address = addressFromText(text);
    if (address !== null) this.add(address, IPV6_BITS, groupId, source);
  }

  /** Adds an IPv4 prefix; an `address` below 0 is invalid. */
  private addIpv4(address: number, bits: number, groupId: number, source: SourceCode): void {
    if (address < 0 || !Number.isInteger(bits) || bits < 0 || bits > IPV4_BITS) return;
    const size = 2 ** (IPV4_BITS - bits);
    const start = Math.floor(address / size) * size;
    this.ipv4.add(start, bits, source, this.recordCount);
    const at = this.beginRecord(groupId, source, bits);
    this.records[at + 2] = MAPPED_WORD;
    this.records[at + 3] = start;
  }

  /** Starts the next record; returns the index of its address words. */
  private beginRecord(groupId: number, source: SourceCode, bits: number): number {
    const at = this.recordCount++ * L.RECORD_WORDS;
    this.records[at] = this.groupIndices.get(groupId) ?? 0;
    this.records[at + 1] = (source << 8) | bits;
    return at + 2;
  }

  private add(address: Uint8Array, length: number, groupId: number, source: SourceCode): void {
    if (!Number.isInteger(length) || length < 0 || length > IPV6_BITS) return;
    if (isMappedIpv4(address) && length >= MAPPED_BITS) {
      this.addIpv4(addressWord(address, 12) >>> 0, length - MAPPED_BITS, groupId, source);
      return;
    }
    const view = new DataView(address.buffer);
    const rest = BigInt(IPV6_BITS - length);
    const start = (((view.getBigUint64(0) << HALF) | view.getBigUint64(8)) >> rest) << rest;
    this.ipv6.push({ start, end: start + (1n << rest) - 1n, length, source, record: this.recordCount });
    view.setBigUint64(0, start >> HALF);
    view.setBigUint64(8, BigInt.asUintN(64, start));
    const at = this.beginRecord(groupId, source, length);
    for (let word = 0; word < L.IPV6_WORDS; word++) this.records[at + word] = addressWord(address, word * 4);
  }
}

/**
 * Converts nested prefixes to ranges: goes through the starts in order, with a stack of the prefixes that contain the
 * current address.
 */
function flatten(prefixes: Prefix[]): { starts: bigint[]; records: number[] } {
  prefixes.sort((a, b) => {
    if (a.start !== b.start) return a.start < b.start ? -1 : 1;
    return a.length - b.length || a.source - b.source;
  });
  const ranges = { starts: [0n], records: [0] };
  const open: Prefix[] = [];
  const begin = (start: bigint, record: number): void => {
    const { starts, records } = ranges;
    if (starts.at(-1) === start) records[records.length - 1] = record;
    else {
      starts.push(start);
      records.push(record);
    }
  };
  const closeBefore = (start: bigint | undefined): void => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (start !== undefined && top.end >= start) return;
      open.pop();
      if (top.end < LAST_IPV6) begin(top.end + 1n, open.at(-1)?.record ?? 0);
    }
  };
  for (const prefix of prefixes) {
    closeBefore(prefix.start);
    begin(prefix.start, prefix.record);
    open.push(prefix);
  }
  closeBefore(undefined);
  return ranges;
}

function encode(records: Int32Array, ipv4: Ranges<number>, ipv6: Ranges<bigint>): SharedArrayBuffer {
  const ipv4At = L.HEADER_WORDS + records.length;
  const ipv6At = ipv4At + ipv4.starts.length * (L.IPV4_WORDS + 1);
  const buffer = new SharedArrayBuffer((ipv6At + ipv6.starts.length * (L.IPV6_WORDS + 1)) * 4);
  const words = new Int32Array(buffer);
  words[L.MAGIC_WORD] = CLIENT_TABLE_MAGIC;
  words[L.VERSION_WORD] = LAYOUT_VERSION;
  words[L.RECORD_COUNT_WORD] = records.length / L.RECORD_WORDS;
  words[L.IPV4_RANGE_COUNT_WORD] = ipv4.starts.length;
  words[L.IPV6_RANGE_COUNT_WORD] = ipv6.starts.length;
  words.set(records, L.HEADER_WORDS);
  for (let index = 0; index < ipv4.starts.length; index++)
    words[ipv4At + index] = ipv4.starts[index]! ^ SIGN_BIT;
  words.set(ipv4.records, ipv4At + ipv4.starts.length);
  const view = new DataView(new ArrayBuffer(16));
  for (let index = 0; index < ipv6.starts.length; index++) {
    const start = ipv6.starts[index]!;
    view.setBigUint64(0, start >> HALF);
    view.setBigUint64(8, BigInt.asUintN(64, start));
    for (let word = 0; word < L.IPV6_WORDS; word++)
      words[ipv6At + index * L.IPV6_WORDS + word] = view.getInt32(word * 4) ^ SIGN_BIT;
  }
  words.set(ipv6.records, ipv6At + ipv6.starts.length * L.IPV6_WORDS);
  return buffer;
}
