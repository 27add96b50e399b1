/**
 * Checks whether a zone has signed an RRset (RFC 4035 section 5.3): selects the signatures and keys; `verify.ts`
 * verifies them.
 */
import { RRClass, ExtendedError } from '../../shared/dns/iana.ts';
import { Record, writeU16, writeU32 } from '../../shared/dns/wire.ts';
import { run, settled, type Soon, type Steps } from '../../shared/soon.ts';
import { isTrustedAlgorithm } from './algorithms.ts';
import type { SignedRRset } from './answer-records.ts';
import type { Budget } from './budget.ts';
import type { Dnskey } from './dnskey.ts';
import { keysOf } from './key-index.ts';
import { ancestor, compareBytes, isSame, labelCount, type Name, wildcardBelow } from './names.ts';
import { type NowSecs, type Rrsig, secsLeft, timeFault } from './rrsig.ts';
import { isSignedBy } from './verify.ts';

/** The result of checking the signatures of an RRset. */
export type SetProof =
  | {
      readonly kind: 'secure';
      /**
       * Number of labels of the closest encloser if the RRset was expanded from a wildcard below it; -1 if it was not.
       */
      readonly encloserLabels: number;
      /** Seconds for which the RRset may be trusted (RFC 4035 section 5.3.3). */
      readonly ttlSecs: number;
    }
  | { readonly kind: 'bogus'; readonly extendedError: number };

/**
 * Seconds for which to trust an RRset whose signature has expired, but within the tolerance for clock errors, or whose
 * validity period could not be checked.
 */
const LATE_TTL_SECS = 30;

/** A zone's name and the keys that may sign its data. */
export interface ZoneKeys {
  readonly name: Name;
  readonly keys: readonly Dnskey[];
}

/**
 * Checks signatures until one is valid. If none is, the extended error reports the failure that came closest to a
 * proof: a failed check, then an expired or not yet valid signature, then a missing key, then no signature at all.
 */
export function proveSet(set: SignedRRset, zone: ZoneKeys, nowSecs: NowSecs, budget: Budget): Soon<SetProof> {
  return run(proveSteps(set, zone, nowSecs, budget));
}

function* proveSteps(set: SignedRRset, zone: ZoneKeys, nowSecs: NowSecs, budget: Budget): Steps<SetProof> {
  let fault: number = NOT_SIGNED;
  let rdatas: readonly Uint8Array[] | undefined;
  for (const rrsig of set.signatures) {
    const own = faultOf(rrsig, set, zone.name, nowSecs);
    if (own !== null) {
      fault = closest(fault, own);
      continue;
    }
    const { zoneKeys, lacksZoneBit } = keysOf(rrsig, zone.keys);
    if (zoneKeys.length === 0) {
      fault = closest(fault, lacksZoneBit ? ExtendedError.NO_ZONE_KEY_BIT_SET : ExtendedError.DNSKEY_MISSING);
      continue;
    }
    let data: Buffer | undefined;
    for (const key of zoneKeys) {
      if (!budget.spendSignature()) return { kind: 'bogus', extendedError: ExtendedError.DNSSEC_BOGUS };
      rdatas ??= canonicalOrder(set);
      data ??= signedData(set, rrsig, rdatas);
      if (yield* settled(isSignedBy(key, rrsig, data, budget))) return secure(set, rrsig, nowSecs);
      budget.noteFailedSignature();
    }
    fault = ExtendedError.DNSSEC_BOGUS;
  }
  return { kind: 'bogus', extendedError: fault };
}

/** Whether a key in the RRset has signed the RRset, regardless of the key's flags (RFC 5011 section 2.1). */
export async function signsItself(
  key: Dnskey,
  set: SignedRRset,
  zone: Name,
  nowSecs: NowSecs,
  budget: Budget,
): Promise<boolean> {
  const own = set.signatures.filter(
    (it) =>
      it.keyTag === key.tag && it.algorithm === key.algorithm && faultOf(it, set, zone, nowSecs) === null,
  );
  for (const rrsig of own)
    if (budget.spendSignature() && (await isSignedBy(key, rrsig, signedData(set, rrsig), budget)))
      return true;
  return false;
}

const NOT_SIGNED = ExtendedError.RRSIGS_MISSING;
/** Failures in ascending order: a later failure is closer to a proof. */
const FAULTS: readonly number[] = [
  NOT_SIGNED,
  ExtendedError.DNSKEY_MISSING,
  ExtendedError.NO_ZONE_KEY_BIT_SET,
  ExtendedError.SIGNATURE_NOT_YET_VALID,
  ExtendedError.SIGNATURE_EXPIRED,
  ExtendedError.DNSSEC_BOGUS,
];

function closest(a: number, b: number): number {
  return FAULTS.indexOf(a) < FAULTS.indexOf(b) ? b : a;
}

/** Reason why a signature cannot be checked at all (RFC 4035 section 5.3.1); null = it can be checked. */
function faultOf(rrsig: Rrsig, set: SignedRRset, zone: Name, nowSecs: NowSecs): number | null {
  if (!isSame(rrsig.signer, zone) || !isTrustedAlgorithm(rrsig.algorithm)) return NOT_SIGNED;
  if (rrsig.labels > labelCount(set.owner) || rrsig.labels < labelCount(zone))
    return ExtendedError.DNSSEC_BOGUS;
  const fault = timeFault(rrsig, nowSecs);
  if (fault === 'expired') return ExtendedError.SIGNATURE_EXPIRED;
  return fault === 'not-yet-valid' ? ExtendedError.SIGNATURE_NOT_YET_VALID : null;
}

function secure(set: SignedRRset, rrsig: Rrsig, nowSecs: NowSecs): SetProof {
  const { owner } = set;
  const labels = labelCount(owner);
  const leftSecs = nowSecs === null ? 0 : secsLeft(rrsig, nowSecs);
  const isWildcardItself = owner[0] === 1 && owner[1] === 0x2a && rrsig.labels === labels - 1;
  return {
    kind: 'secure',
    encloserLabels: rrsig.labels < labels && !isWildcardItself ? rrsig.labels : -1,
    ttlSecs: Math.min(set.ttlSecs, rrsig.originalTtlSecs, Math.max(leftSecs, LATE_TTL_SECS)),
  };
}

/** Sorts the records of an RRset, without duplicates (RFC 4034 section 6.3). */
function canonicalOrder({ rdatas }: SignedRRset): readonly Uint8Array[] {
  if (rdatas.length === 1) return rdatas;
  const sorted = [...rdatas].sort(compareBytes);
  return sorted.filter((rdata, i) => i === 0 || compareBytes(sorted[i - 1]!, rdata) !== 0);
}

/**
 * The data that a signature covers (RFC 4035 section 5.3.2): the RRSIG without its signature, then the RRset in
 * canonical form and order.
 */
export function signedData(
  set: SignedRRset,
  rrsig: Rrsig,
  rdatas: readonly Uint8Array[] = canonicalOrder(set),
): Buffer {
  const { owner } = set;
  const isExpanded = rrsig.labels < labelCount(owner);
  const signedOwner = isExpanded ? wildcardBelow(ancestor(owner, rrsig.labels))! : owner;
  const { fixed, signer } = rrsig;
  let size = fixed.length + signer.length + rdatas.length * (signedOwner.length + Record.RDATA);
  for (const rdata of rdatas) size += rdata.length;
  const data = Buffer.allocUnsafe(size);
  data.set(fixed);
  data.set(signer, fixed.length);
  let at = fixed.length + signer.length;
  for (const rdata of rdatas) {
    data.set(signedOwner, at);
    at += signedOwner.length;
    writeU16(data, at + Record.TYPE, set.type);
    writeU16(data, at + Record.CLASS, RRClass.IN);
    writeU32(data, at + Record.TTL, rrsig.originalTtlSecs);
    writeU16(data, at + Record.RDLENGTH, rdata.length);
    data.set(rdata, at + Record.RDATA);
    at += Record.RDATA + rdata.length;
  }
  return data;
}
