/**
 * Denial of existence by NSEC3 records (RFC 5155 section 8). Each name is hashed up to 51 times, so hashes count
 * against the question's budget, and a zone with more iterations is insecure (RFC 9276).
 */
import { hash } from 'node:crypto';
import { RRType } from '../../shared/dns/iana.ts';
import { readU16 } from '../../shared/dns/wire.ts';
import type { SignedRRset } from './answer-records.ts';
import { type Budget, MAX_NSEC3_ITERATIONS } from './budget.ts';
import {
  ancestor,
  compareBytes,
  isAtOrBelow,
  isSame,
  labelCount,
  type Name,
  parent,
  ROOT,
  wildcardBelow,
} from './names.ts';
import { nameKey } from './names.ts';
import type { Delegation, Denial, Proof } from './proof.ts';
import { TypeBitmap } from './type-bitmap.ts';

interface Nsec3 {
  readonly ownerHash: Uint8Array;
  readonly nextHash: Uint8Array;
  readonly iterations: number;
  readonly salt: Uint8Array;
  readonly optOut: boolean;
  readonly types: TypeBitmap;
}

/** The closest encloser of a name, with the proof that the next closer name does not exist. */
interface Enclosure {
  readonly encloser: Name;
  /** The record whose owner is the hashed encloser. */
  readonly own: Nsec3;
  /** The record that covers the next closer name. */
  readonly gap: Nsec3;
}

const HASH_SHA1 = 1;
const OPT_OUT = 1;
const BASE32_HEX = '0123456789abcdefghijklmnopqrstuv';

/** The NSEC3 records of one zone in one answer. */
export class Nsec3Denial implements Denial {
  private readonly records: readonly Nsec3[];
  private readonly zone: Name;
  private readonly budget: Budget;
  private readonly hashes = new Map<string, Uint8Array>();

  private constructor(records: readonly Nsec3[], zone: Name, budget: Budget) {
    this.records = records;
    this.zone = zone;
    this.budget = budget;
  }

  /**
   * Takes checked RRsets of `zone`. Records with unknown hash algorithms or flags are skipped (RFC 5155 section 8.2),
   * and so are records whose parameters differ from those of the first record, because they belong to another chain.
   */
  static read(sets: readonly SignedRRset[], zone: Name, budget: Budget): Nsec3Denial {
    const records: Nsec3[] = [];
    for (const { owner, rdatas } of sets) {
      const record = rdatas.length === 1 && isSame(parent(owner), zone) ? readNsec3(owner, rdatas[0]!) : null;
      if (record !== null && hasSameParameters(record, records[0] ?? record)) records.push(record);
    }
    return new Nsec3Denial(records, zone, budget);
  }

  nameError(qname: Name): Proof {
    if (this.isTooCostly) return 'insecure';
    const enclosure = this.enclosureOf(qname);
    if (enclosure === null) return 'unproven';
    const wildcard = wildcardBelow(enclosure.encloser);
    if (wildcard === null || this.gapAt(wildcard) === undefined) return 'unproven';
    // RFC 5155 section 9.2: a range with opt-out may contain unsigned delegations.
    return enclosure.gap.optOut ? 'insecure' : 'proven';
  }

  noData(qname: Name, type: number): Proof {
    if (this.isTooCostly) return 'insecure';
    const own = this.at(qname);
    if (own !== undefined) return own.types.denies(type, isSame(qname, ROOT)) ? 'proven' : 'unproven';
    const enclosure = this.enclosureOf(qname);
    if (enclosure === null) return 'unproven';
    const wildcard = wildcardBelow(enclosure.encloser);
    const stand = wildcard === null ? undefined : this.at(wildcard);
    if (stand !== undefined && !stand.types.denies(type, false)) return 'unproven';
    if (enclosure.gap.optOut) return 'insecure';
    return stand === undefined ? 'unproven' : 'proven';
  }

  wildcardAnswer(qname: Name, encloserLabels: number): Proof {
    if (this.isTooCostly) return 'insecure';
    const gap = this.gapAt(ancestor(qname, encloserLabels + 1));
    if (gap === undefined) return 'unproven';
    return gap.optOut ? 'insecure' : 'proven';
  }

  delegation(name: Name): Delegation {
    if (this.isTooCostly) return 'unsigned';
    const own = this.at(name);
    if (own !== undefined) {
      if (own.types.has(RRType.DS) || own.types.has(RRType.SOA)) return 'unproven';
      return own.types.has(RRType.NS) ? 'unsigned' : 'none';
    }
    const enclosure = this.enclosureOf(name);
    if (enclosure === null) return 'unproven';
    return enclosure.gap.optOut ? 'unsigned' : 'nothing-below';
  }

  get isTooCostly(): boolean {
    return (this.records[0]?.iterations ?? 0) > MAX_NSEC3_ITERATIONS;
  }

  /**
   * Finds the closest encloser (RFC 5155 section 8.3); null = no proof. The encloser must belong to this zone, and not
   * be above a cut or a DNAME. The search alternates between the longest and the shortest candidate, because the
   * encloser is usually close to the name or to the zone, and each candidate costs a hash.
   */
  private enclosureOf(name: Name): Enclosure | null {
    let lowest = labelCount(name) - 1;
    let highest = labelCount(this.zone);
    while (highest <= lowest) {
      const found = this.enclosureAt(name, lowest--) ?? this.enclosureAt(name, highest++);
      if (found !== undefined) return found.own.types.endsZone ? null : found;
    }
    return null;
  }

  /** The ancestor with `labels` labels if it is proven to exist and the next closer name is proven not to exist. */
  private enclosureAt(name: Name, labels: number): Enclosure | undefined {
    const encloser = ancestor(name, labels);
    const own = this.at(encloser);
    if (own === undefined) return undefined;
    const gap = this.gapAt(ancestor(name, labels + 1));
    return gap === undefined ? undefined : { own, encloser, gap };
  }

  private at(name: Name): Nsec3 | undefined {
    const hashed = this.hashOf(name);
    return hashed === null ? undefined : this.records.find((it) => compareBytes(it.ownerHash, hashed) === 0);
  }

  private gapAt(name: Name): Nsec3 | undefined {
    const hashed = this.hashOf(name);
    return hashed === null ? undefined : this.records.find((record) => covers(record, hashed));
  }

  /** The hash of a name; null if the budget is used up, or the name does not belong to the zone. */
  private hashOf(name: Name): Uint8Array | null {
    const first = this.records[0];
    if (first === undefined || !isAtOrBelow(name, this.zone)) return null;
    const key = nameKey(name);
    const known = this.hashes.get(key);
    if (known !== undefined) return known;
    if (!this.budget.spendHash(first.iterations + 1)) return null;
    const hashed = nsec3Hash(name, first.salt, first.iterations);
    this.hashes.set(key, hashed);
    return hashed;
  }
}

/**
 * The hash of a name (RFC 5155 section 5): SHA-1 over name and salt, then `iterations` times over the result and salt.
 */
export function nsec3Hash(name: Name, salt: Uint8Array, iterations: number): Uint8Array {
  let hashed: Uint8Array = name;
  for (let i = 0; i <= iterations; i++) hashed = hash('sha1', Buffer.concat([hashed, salt]), 'buffer');
  return hashed;
}

function readNsec3(owner: Name, rdata: Uint8Array): Nsec3 | null {
  const saltLength = rdata[4] ?? 0;
  const hashAt = 6 + saltLength;
  const hashLength = rdata[hashAt - 1] ?? 0;
  const typesAt = hashAt + hashLength;
  if (rdata[0] !== HASH_SHA1 || (rdata[1]! & ~OPT_OUT) !== 0 || hashLength === 0 || typesAt > rdata.length)
    return null;
  const ownerHash = fromBase32Hex(owner.subarray(1, 1 + owner[0]!));
  const types = TypeBitmap.read(rdata.subarray(typesAt));
  if (ownerHash?.length !== hashLength || types === null) return null;
  return {
    ownerHash,
    nextHash: rdata.subarray(hashAt, typesAt),
    iterations: readU16(rdata, 2),
    salt: rdata.subarray(5, 5 + saltLength),
    optOut: (rdata[1]! & OPT_OUT) !== 0,
    types,
  };
}

function hasSameParameters(a: Nsec3, b: Nsec3): boolean {
  return a.iterations === b.iterations && compareBytes(a.salt, b.salt) === 0;
}

function covers({ ownerHash, nextHash }: Nsec3, hashed: Uint8Array): boolean {
  const afterOwner = compareBytes(hashed, ownerHash) > 0;
  const beforeNext = compareBytes(hashed, nextHash) < 0;
  // The next hash of the last record in a chain is the first hash of the chain; the next hash of a single record is its
  // own hash.
  return compareBytes(ownerHash, nextHash) < 0 ? afterOwner && beforeNext : afterOwner || beforeNext;
}

/** Decodes base32hex without padding (RFC 4648 section 7); null for other characters. */
function fromBase32Hex(text: Uint8Array): Uint8Array | null {
  const octets: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    const digit = BASE32_HEX.indexOf(String.fromCharCode(character));
    if (digit < 0) return null;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      octets.push((value >>> bits) & 0xff);
    }
  }
  return Uint8Array.from(octets);
}
