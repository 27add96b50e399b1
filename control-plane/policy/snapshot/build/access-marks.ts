/**
 * Adds access rights ("admission bits") to the ranges of the client table. Access rights change at other addresses than
 * groups do, so ranges are split where necessary.
 */
import { isIpv4Network } from '../../../../shared/net/cidr.ts';
import type { Network } from '../../../../shared/net/cidr.ts';
import type { Access } from '../../../../shared/policy/access.ts';
import { ClientTableLayout as L } from '../../../../shared/snapshot/layout.ts';

/** Start of each range, ascending from the first address of the family, and the word of each range. */
export interface Ranges<T extends number | bigint> {
  readonly starts: ArrayLike<T>;
  readonly records: ArrayLike<number>;
}

/** Admission bits of address ranges, by family. */
export interface AccessMarks {
  readonly ipv4: Ranges<number>;
  readonly ipv6: Ranges<bigint>;
}

const IPV4_BITS = 32n;
const IPV6_BITS = 128n;
const HALF = 64n;

/** The admission bits of all addresses. */
export function accessMarks({ allowed, blocked }: Access): AccessMarks {
  const marksOf = (isIpv4: boolean): Ranges<bigint> => {
    const ofFamily = (all: readonly Network[]): Network[] =>
      all.filter((one) => isIpv4Network(one) === isIpv4);
    return sweep(ofFamily(allowed), ofFamily(blocked), isIpv4 ? IPV4_BITS : IPV6_BITS);
  };
  const { starts, records } = marksOf(true);
  return { ipv4: { starts: Array.from(starts, Number), records }, ipv6: marksOf(false) };
}

/** Adds the bits of `marks` to the words of `ranges`, splitting ranges where a bit changes. */
export function overlay<T extends number | bigint>(ranges: Ranges<T>, marks: Ranges<T>): Ranges<T> {
  if (marks.starts.length === 1 && marks.records[0] === 0) return ranges;
  const starts: T[] = [];
  const records: number[] = [];
  let range = 0;
  let mark = 0;
  let at: T | undefined = ranges.starts[0];
  while (at !== undefined) {
    starts.push(at);
    records.push(ranges.records[range]! | marks.records[mark]!);
    const nextRange: T | undefined = ranges.starts[range + 1];
    const nextMark: T | undefined = marks.starts[mark + 1];
    at = nextMark === undefined || (nextRange !== undefined && nextRange < nextMark) ? nextRange : nextMark;
    if (at === nextRange) range++;
    if (at === nextMark) mark++;
  }
  return { starts, records };
}

/**
 * Goes through all addresses in ascending order, counting how many allowed and blocked networks contain each; returns
 * ranges with the resulting bits.
 */
function sweep(allowed: readonly Network[], blocked: readonly Network[], familyBits: bigint): Ranges<bigint> {
  const changes: { readonly at: bigint; readonly allowed: number; readonly blocked: number }[] = [];
  const add = (network: Network, kind: { allowed: number; blocked: number }): void => {
    const { start, end } = boundsOf(network, familyBits);
    changes.push({ at: start, ...kind });
    changes.push({ at: end, allowed: -kind.allowed, blocked: -kind.blocked });
  };
  for (const network of allowed) add(network, { allowed: 1, blocked: 0 });
  for (const network of blocked) add(network, { allowed: 0, blocked: 1 });
  changes.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const starts = [0n];
  const records = [0];
  const depth = { allowed: 0, blocked: 0 };
  for (const { at, ...change } of changes) {
    depth.allowed += change.allowed;
    depth.blocked += change.blocked;
    if (at >> familyBits !== 0n) continue;
    if (starts.at(-1) !== at) {
      starts.push(at);
      records.push(0);
    }
    records[records.length - 1] = bitsOf(depth);
  }
  return { starts, records };
}

function bitsOf({ allowed, blocked }: { allowed: number; blocked: number }): number {
  if (blocked > 0) return L.BLOCKED_BIT;
  return allowed > 0 ? L.ADMITTED_BIT : 0;
}

/** First address of a network, and the address after its last one, as numbers of the address family. */
function boundsOf({ bytes, prefixBits }: Network, familyBits: bigint): { start: bigint; end: bigint } {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const address = (view.getBigUint64(0) << HALF) | view.getBigUint64(8);
  const start = BigInt.asUintN(Number(familyBits), address);
  return { start, end: start + (1n << (IPV6_BITS - BigInt(prefixBits))) };
}
