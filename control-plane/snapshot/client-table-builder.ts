/**
 * Builds the client table of `shared/snapshot/client-table.ts` from what people said of clients (by MAC, by
 * address, by subnet) and from the addresses at which MACs are seen. All nesting and precedence is resolved
 * here: what threads search are ranges that do not overlap.
 */
import { addressFromText, addressWord, ipv4FromText, isMappedIpv4 } from '../../shared/net/ip.ts';
import { ClientGroupSource } from '../../shared/snapshot/client-table.ts';
import { CLIENT_TABLE_MAGIC, ClientTableLayout as L, LAYOUT_VERSION } from '../../shared/snapshot/layout.ts';
import type { LivePolicy, PolicyClient, PolicyRows } from './compiled-rules.ts';
import { effectiveGroupId, orderGroups } from './policy-table-builder.ts';

type SourceCode = (typeof ClientGroupSource)[keyof typeof ClientGroupSource];

/** All addresses of a prefix, as numbers of its family: IPv4 as a number, IPv6 as a bigint. */
interface Prefix<T> {
  readonly start: T;
  readonly end: T;
  /** Of two prefixes with the same start the longer one is inside; of equal ones the later code decides. */
  readonly length: number;
  readonly source: SourceCode;
  readonly record: number;
}

/** Where each range starts and the record it belongs to; the first starts at the family's first address. */
interface Ranges<T> {
  readonly starts: T[];
  readonly records: number[];
}

const IPV4_BITS = 32;
const IPV6_BITS = 128;
const MAPPED_BITS = IPV6_BITS - IPV4_BITS;
const HALF = 64n;
/** Third word of an IPv4 address in IPv6 form. */
const MAPPED_WORD = 0xffff;
const SIGN_BIT = 0x80000000;

/**
 * Builds the table. A MAC beats an address, an address beats a subnet, a longer prefix a shorter one. A
 * disabled group, or one that is no more, is Default. IPv6 prefixes are for no IPv4 client, not even `::/0`.
 * Rows whose address cannot be read are left out.
 */
export function buildClientTable(rows: PolicyRows, live: LivePolicy): SharedArrayBuffer {
  const collector = new PrefixCollector(rows);
  for (const { cidr, groupId } of rows.subnets) collector.addSubnet(cidr, groupId);
  for (const { address, groupId } of rows.clients)
    collector.addAddress(address, groupId, ClientGroupSource.manual);
  for (const { address, groupId } of live.clientAddresses)
    collector.addAddress(address, groupId, ClientGroupSource.mac);
  const ipv4 = flatten(collector.ipv4, 0, (end) => end + 1);
  const ipv6 = flatten(collector.ipv6, 0n, (end) => end + 1n);
  return encode(collector.records, ipv4, ipv6);
}

/** Whether two tables would be the same, because nothing that they are built from differs. */
export function isSameForClients(
  a: { readonly rows: PolicyRows; readonly live: LivePolicy },
  b: { readonly rows: PolicyRows; readonly live: LivePolicy },
): boolean {
  return (
    areSame(a.rows.groups, b.rows.groups, (x, y) => x.id === y.id && x.enabled === y.enabled) &&
    areSame(a.rows.subnets, b.rows.subnets, (x, y) => x.cidr === y.cidr && x.groupId === y.groupId) &&
    areSame(a.rows.clients, b.rows.clients, isSameClient) &&
    areSame(a.live.clientAddresses, b.live.clientAddresses, isSameClient)
  );
}

function isSameClient(a: PolicyClient, b: PolicyClient): boolean {
  return a.address === b.address && a.groupId === b.groupId;
}

function areSame<T>(a: readonly T[], b: readonly T[], isSame: (x: T, y: T) => boolean): boolean {
  return a === b || (a.length === b.length && a.every((x, index) => isSame(x, b[index]!)));
}

/** Gathers prefixes by family, and the words of their records. */
class PrefixCollector {
  readonly ipv4: Prefix<number>[] = [];
  readonly ipv6: Prefix<bigint>[] = [];
  /** `RECORD_WORDS` each; record 0 is that of clients that no record is for. */
  readonly records: number[] = [0, ClientGroupSource.default << 8, 0, 0, 0, 0];
  private readonly groupIndices: ReadonlyMap<number, number>;

  constructor({ groups }: PolicyRows) {
    const ordered = orderGroups(groups);
    const indices = new Map(ordered.map((group, index) => [group.id, index]));
    this.groupIndices = new Map(ordered.map((group) => [group.id, indices.get(effectiveGroupId(group))!]));
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

  /** Address below 0 = not readable. */
  private addIpv4(address: number, bits: number, groupId: number, source: SourceCode): void {
    if (address < 0 || !Number.isInteger(bits) || bits < 0 || bits > IPV4_BITS) return;
    const { records, ipv4 } = this;
    const size = 2 ** (IPV4_BITS - bits);
    const start = Math.floor(address / size) * size;
    const record = records.length / L.RECORD_WORDS;
    ipv4.push({ start, end: start + size - 1, length: bits, source, record });
    const groupIndex = this.groupIndices.get(groupId) ?? 0;
    records.push(groupIndex, (source << 8) | bits, 0, 0, MAPPED_WORD, start | 0);
  }

  private add(address: Uint8Array, length: number, groupId: number, source: SourceCode): void {
    if (!Number.isInteger(length) || length < 0 || length > IPV6_BITS) return;
    if (isMappedIpv4(address) && length >= MAPPED_BITS) {
      this.addIpv4(addressWord(address, 12) >>> 0, length - MAPPED_BITS, groupId, source);
      return;
    }
    const { records, ipv6 } = this;
    const record = records.length / L.RECORD_WORDS;
    const groupIndex = this.groupIndices.get(groupId) ?? 0;
    const view = new DataView(address.buffer);
    const rest = BigInt(IPV6_BITS - length);
    const start = (((view.getBigUint64(0) << HALF) | view.getBigUint64(8)) >> rest) << rest;
    ipv6.push({ start, end: start + (1n << rest) - 1n, length, source, record });
    view.setBigUint64(0, start >> HALF);
    view.setBigUint64(8, BigInt.asUintN(64, start));
    records.push(groupIndex, (source << 8) | length);
    for (let at = 0; at < address.length; at += 4) records.push(addressWord(address, at));
  }
}

/**
 * Turns nested prefixes into ranges: a sweep over the starts, with a stack of the prefixes that are open.
 * `after` gives the address behind an end.
 */
function flatten<T extends number | bigint>(
  prefixes: Prefix<T>[],
  first: T,
  after: (end: T) => T,
): Ranges<T> {
  prefixes.sort((a, b) => {
    if (a.start !== b.start) return a.start < b.start ? -1 : 1;
    return a.length - b.length || a.source - b.source;
  });
  const ranges: Ranges<T> = { starts: [first], records: [0] };
  const open: Prefix<T>[] = [];
  const begin = (start: T, record: number): void => {
    const { starts, records } = ranges;
    if (starts.at(-1) === start) records[records.length - 1] = record;
    else {
      starts.push(start);
      records.push(record);
    }
  };
  const closeBefore = (start: T | undefined): void => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (start !== undefined && top.end >= start) return;
      open.pop();
      begin(after(top.end), open.at(-1)?.record ?? 0);
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

function encode(records: readonly number[], ipv4: Ranges<number>, ipv6: Ranges<bigint>): SharedArrayBuffer {
  dropBeyond(ipv4, 2 ** IPV4_BITS);
  dropBeyond(ipv6, 1n << BigInt(IPV6_BITS));
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
  for (const [index, start] of ipv4.starts.entries()) words[ipv4At + index] = start ^ SIGN_BIT;
  words.set(ipv4.records, ipv4At + ipv4.starts.length);
  const view = new DataView(new ArrayBuffer(16));
  for (const [index, start] of ipv6.starts.entries()) {
    view.setBigUint64(0, start >> HALF);
    view.setBigUint64(8, BigInt.asUintN(64, start));
    for (let word = 0; word < L.IPV6_WORDS; word++)
      words[ipv6At + index * L.IPV6_WORDS + word] = view.getInt32(word * 4) ^ SIGN_BIT;
  }
  words.set(ipv6.records, ipv6At + ipv6.starts.length * L.IPV6_WORDS);
  return buffer;
}

/** Removes the range that begins behind the family's last address. */
function dropBeyond<T extends number | bigint>({ starts, records }: Ranges<T>, limit: T): void {
  if (starts.at(-1)! < limit) return;
  starts.pop();
  records.pop();
}
