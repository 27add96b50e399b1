/**
 * Zones with trust anchors, and their DNSKEY RRsets (RFC 5011 section 2): whether a trusted key has signed an RRset,
 * and which keys revoke themselves. The control plane acts on the result.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { KeyFlags } from '../../shared/dns/dnskey-rdata.ts';
import type { TrustAnchor, TrustPointKeys } from '../../shared/dns/trust-anchors.ts';
import { isTrustedAlgorithm } from './algorithms.ts';
import type { SignedRRset } from './answer-records.ts';
import { type Budget, MAX_COLLIDING_KEYS } from './budget.ts';
import { Dnskey } from './dnskey.ts';
import { isSame, type Name, nameKey } from './names.ts';
import { type NowSecs, secsLeft, timeFault } from './rrsig.ts';
import { signsItself } from './signature.ts';
import { introductionByAnchors, proveKeys } from './zone-keys.ts';

const LONGEST_SECS = 0x7fffffff;
/** Maximum number of keys examined per zone: reading one costs as much as checking a signature. */
const MAX_ENTRY_POINTS = 32;

/** A zone with trust anchors. */
export interface AnchoredZone {
  readonly zone: Name;
  readonly anchors: readonly TrustAnchor[];
}

/** Anchors by zone, longest name first, so that the first zone that contains a name is the closest. */
export function anchorsByZone(anchors: readonly TrustAnchor[]): AnchoredZone[] {
  const zones = new Map<string, TrustAnchor[]>();
  for (const anchor of anchors) {
    const key = nameKey(anchor.zone);
    zones.set(key, [...(zones.get(key) ?? []), anchor]);
  }
  return [...zones.values()]
    .map((all) => ({ zone: all[0]!.zone, anchors: all }))
    .sort((a, b) => b.zone.length - a.zone.length);
}

/**
 * Evaluates the response to a DNSKEY query for `zone` with the zone's trust anchors; null if it has no DNSKEY records.
 */
export async function readTrustPoint(
  zone: Name,
  sets: readonly SignedRRset[],
  anchors: readonly TrustAnchor[],
  nowSecs: NowSecs,
  budget: Budget,
): Promise<TrustPointKeys | null> {
  const set = sets.find((it) => it.isAnswer && it.type === RRType.DNSKEY && isSame(it.owner, zone));
  if (set === undefined) return null;
  const introduction = introductionByAnchors(anchors);
  const proof = introduction === null ? null : await proveKeys(zone, introduction, set, nowSecs, budget);
  const entryPoints = set.rdatas
    .map((rdata) => Dnskey.read(rdata))
    .filter((key) => key !== null && (key.flags & KeyFlags.ENTRY_POINT) !== 0)
    .slice(0, MAX_ENTRY_POINTS) as Dnskey[];
  const revoked = entryPoints.filter((key) => key.isRevoked).slice(0, MAX_COLLIDING_KEYS);
  const revoking = new Set<Dnskey>();
  for (const key of revoked) if (await signsItself(key, set, zone, nowSecs, budget)) revoking.add(key);
  const valid = set.signatures.filter((it) => timeFault(it, nowSecs) === null);
  return {
    isTrusted: proof?.cut.kind === 'secure',
    keys: entryPoints
      .filter((key) => revoking.has(key) || (key.isZoneKey && isUsable(key)))
      .map((key) => ({ rdata: key.rdata, isRevoked: key.isRevoked })),
    originalTtlSecs: Math.min(LONGEST_SECS, ...valid.map((it) => it.originalTtlSecs)),
    expiresInSecs: Math.min(
      LONGEST_SECS,
      ...valid.map((it) => (nowSecs === null ? 0 : secsLeft(it, nowSecs))),
    ),
  };
}

function isUsable(key: Dnskey): boolean {
  return isTrustedAlgorithm(key.algorithm) && key.verifyInput !== null;
}
