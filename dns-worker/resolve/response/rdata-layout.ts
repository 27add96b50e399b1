/**
 * Positions of domain names in RDATA, for the types whose names may be compressed. RFC 3597 section 4: names in RDATA
 * of RFC 1035 types may be compressed; some servers also compress names in a few later types, which receivers must
 * accept. RDATA of every other type is copied byte for byte.
 */
import { RRType } from '../../../shared/dns/iana.ts';
import type { ExpandedName } from './wire-name.ts';
import { expandName } from './wire-name.ts';

/** Layout of RDATA: fixed bytes, then names, then a tail. */
export interface RdataLayout {
  /** Bytes before the first name; -1 = variable, as in NAPTR: two u16 and three character-strings. */
  readonly head: number;
  readonly names: number;
  /** Octets after the last name; -1 = any number. */
  readonly tail: number;
  /** Whether the names may be compressed when sent (RFC 1035 types only, RFC 3597 section 4). */
  readonly compress: boolean;
}

const NAPTR_HEAD = -1;
const ANY_LENGTH = -1;

function layout(head: number, names: number, tail: number, compress: boolean): RdataLayout {
  return { head, names, tail, compress };
}

const RFC1035_NAME = layout(0, 1, 0, true);

/** Layouts by type. Types without a constant here: MD 3, MF 4, MB 7, MG 8, MR 9, MINFO 14, RT 21, PX 26, NXT 30. */
const LAYOUTS: readonly (readonly [number, RdataLayout])[] = [
  [RRType.NS, RFC1035_NAME],
  [3, RFC1035_NAME],
  [4, RFC1035_NAME],
  [RRType.CNAME, RFC1035_NAME],
  [RRType.SOA, layout(0, 2, 20, true)],
  [7, RFC1035_NAME],
  [8, RFC1035_NAME],
  [9, RFC1035_NAME],
  [RRType.PTR, RFC1035_NAME],
  [14, layout(0, 2, 0, true)],
  [RRType.MX, layout(2, 1, 0, true)],
  [RRType.RP, layout(0, 2, 0, false)],
  [RRType.AFSDB, layout(2, 1, 0, false)],
  [21, layout(2, 1, 0, false)],
  [RRType.SIG, layout(18, 1, ANY_LENGTH, false)],
  [26, layout(2, 2, 0, false)],
  [30, layout(0, 1, ANY_LENGTH, false)],
  [RRType.SRV, layout(6, 1, 0, false)],
  [RRType.NAPTR, layout(NAPTR_HEAD, 1, 0, false)],
  [RRType.KX, layout(2, 1, 0, false)],
  [RRType.DNAME, layout(0, 1, 0, false)],
];

const BY_TYPE: readonly (RdataLayout | undefined)[] = (() => {
  const table: (RdataLayout | undefined)[] = new Array<undefined>(64).fill(undefined);
  for (const [type, entry] of LAYOUTS) table[type] = entry;
  return table;
})();

/** The layout of a type whose RDATA has names to rewrite; undefined = copy it byte for byte. */
export function rdataLayout(type: number): RdataLayout | undefined {
  return type < 64 ? BY_TYPE[type] : undefined;
}

/** Offset of the first name in RDATA; -1 if the head does not fit before `end`. */
export function firstNameAt(message: Uint8Array, layoutOf: RdataLayout, at: number, end: number): number {
  let offset = at;
  if (layoutOf.head === NAPTR_HEAD) {
    offset += 4;
    for (let i = 0; i < 3 && offset < end; i++) offset += message[offset]! + 1;
  } else {
    offset += layoutOf.head;
  }
  return offset < end ? offset : -1;
}

/** Expands a name in RDATA; false if it is malformed or extends beyond the RDATA. */
export function expandRdataName(message: Uint8Array, at: number, end: number, into: ExpandedName): boolean {
  return expandName(message, at, into) && into.next <= end;
}
