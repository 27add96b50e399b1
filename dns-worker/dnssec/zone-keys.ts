/**
 * Proves the keys of a zone (RFC 4035 section 5.2): its DNSKEY RRset must be signed by a key that matches a DS of the
 * parent or a configured trust anchor.
 */
import { ExtendedError, RRType } from '../../shared/dns/iana.ts';
import type { TrustAnchor } from '../../shared/dns/trust-anchors.ts';
import { isTrustedAlgorithm } from './algorithms.ts';
import type { SignedRRset } from './answer-records.ts';
import type { Budget } from './budget.ts';
import type { Cut } from './cut-cache.ts';
import { digestMatches, Dnskey, type Ds, readDs, usableDs } from './dnskey.ts';
import { DsIndex } from './key-index.ts';
import { compareBytes, isSame, type Name } from './names.ts';
import type { NowSecs } from './rrsig.ts';
import { proveSet } from './signature.ts';

/** The reason to trust a zone's keys (its introduction): usable DS records, or trust anchors. */
export interface Introduction {
  readonly ds: readonly Ds[];
  readonly keys: readonly Dnskey[];
}

/** A zone cut and its lifetime in seconds. */
export interface TimedCut {
  readonly cut: Cut;
  readonly ttlSecs: number;
}

/** The introduction by a DS RRset; null if no record in it is usable, which makes the zone insecure. */
export function introductionByDs(rdatas: readonly Uint8Array[]): Introduction | null {
  const ds = usableDs(rdatas.map(readDs).filter((it) => it !== null));
  return ds.length > 0 ? { ds, keys: [] } : null;
}

/** The introduction by the trust anchors of one zone; null if none is usable. */
export function introductionByAnchors(anchors: readonly TrustAnchor[]): Introduction | null {
  const ofType = (type: number): Uint8Array[] =>
    anchors.filter((it) => it.type === type).map((it) => it.rdata);
  const ds = introductionByDs(ofType(RRType.DS))?.ds ?? [];
  const keys = readKeys(ofType(RRType.DNSKEY)).filter((key) => isTrustedAlgorithm(key.algorithm));
  return ds.length + keys.length > 0 ? { ds, keys } : null;
}

/** Verifies the DNSKEY RRset of a zone against its introduction. `set` is undefined if no response came. */
export async function proveKeys(
  zone: Name,
  introduction: Introduction,
  set: SignedRRset | undefined,
  nowSecs: NowSecs,
  budget: Budget,
): Promise<TimedCut> {
  if (set === undefined || !isSame(set.owner, zone)) return bogus(ExtendedError.DNSKEY_MISSING);
  const all = readKeys(set.rdatas);
  const ds = new DsIndex(introduction.ds);
  const introduced = all.filter(
    (key) => isAmong(key, introduction.keys) || isSpokenOf(key, zone, ds, budget),
  );
  const entries = introduced.filter((key) => key.isZoneKey);
  if (entries.length === 0) {
    const unmarked = introduced.some((key) => key.lacksZoneBit);
    return bogus(unmarked ? ExtendedError.NO_ZONE_KEY_BIT_SET : ExtendedError.DNSKEY_MISSING);
  }
  const proof = await proveSet(set, { name: zone, keys: entries }, nowSecs, budget);
  if (proof.kind === 'bogus') return bogus(proof.extendedError);
  const keys = all.filter((key) => isTrustedAlgorithm(key.algorithm));
  return { cut: { kind: 'secure', name: zone, keys }, ttlSecs: proof.ttlSecs };
}

function isAmong(key: Dnskey, anchors: readonly Dnskey[]): boolean {
  return anchors.some((it) => compareBytes(it.rdata, key.rdata) === 0);
}

function isSpokenOf(key: Dnskey, zone: Name, ds: DsIndex, budget: Budget): boolean {
  return ds.find(key).some((it) => budget.spendDigest() && digestMatches(it, zone, key));
}

function readKeys(rdatas: readonly Uint8Array[]): Dnskey[] {
  return rdatas.map((rdata) => Dnskey.read(rdata)).filter((key) => key !== null);
}

function bogus(extendedError: number): TimedCut {
  return { cut: { kind: 'bogus', extendedError }, ttlSecs: 0 };
}
