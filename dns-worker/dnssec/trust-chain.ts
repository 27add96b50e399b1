/**
 * The chain of trust: from the closest trust anchor down to a name, label by label; queries the DS at each unknown
 * label. Each step advances by at least one label, so the walk ends; concurrent walks share their steps. `validator.ts`
 * checks answers with the keys found.
 */
import { ExtendedError, RRType } from '../../shared/dns/iana.ts';
import type { Clock } from '../../shared/clock.ts';
import type { TrustAnchor, TrustPointKeys } from '../../shared/dns/trust-anchors.ts';
import type { SealedRecords } from '../../shared/memory/sealed-records.ts';
import { run, settled, type Soon, type Steps } from '../../shared/soon.ts';
import type { SignedRRset } from './answer-records.ts';
import type { Budget } from './budget.ts';
import { type Cut, CutCache } from './cut-cache.ts';
import { denialOf } from './denial.ts';
import { ancestor, isAtOrBelow, isSame, labelCount, type Name, nameKey } from './names.ts';
import type { NowSecs } from './rrsig.ts';
import { proveSet, type ZoneKeys } from './signature.ts';
import { type AnchoredZone, anchorsByZone, readTrustPoint } from './trust-point.ts';
import {
  type Introduction,
  introductionByAnchors,
  introductionByDs,
  proveKeys,
  type TimedCut,
} from './zone-keys.ts';

/** Records with their signatures, and the server (`Upstream.index`) that sent them. */
export interface Fetched {
  readonly sets: readonly SignedRRset[];
  readonly upstream: number;
}

/**
 * Queries the upstreams for records of a name and type; servers that the budget avoids are queried last. Null = no
 * response.
 */
export type Fetch = (name: Name, type: number, budget: Budget) => Promise<Fetched | null>;

/** A zone whose keys are proven. */
export type SecureZone = { readonly kind: 'secure' } & ZoneKeys;

/** The security of the zone that contains a name. */
export type Zone =
  | SecureZone
  /** `insecure`: proven to be unsigned; `indeterminate`: no trust anchor covers the zone. */
  | { readonly kind: 'insecure' | 'indeterminate' }
  | { readonly kind: 'bogus'; readonly extendedError: number }
  /** Unknown: no server answered, or the answer would cost too much. */
  | { readonly kind: 'unavailable' };

/** Limits for the lifetime of a cut, in seconds. A bogus cut is retried soon, because the zone may have been fixed. */
const MIN_TTL_SECS = 5;
const MAX_TTL_SECS = 3600;
const BOGUS_TTL_SECS = 5;
/**
 * If records are bogus or unavailable, there are at most `ATTEMPTS` attempts with the same servers, and `MAX_ATTEMPTS`
 * while further servers can be avoided.
 */
const ATTEMPTS = 2;
const MAX_ATTEMPTS = 3;

/** The configured starting points of all chains. */
export interface TrustPoints {
  readonly anchors: readonly TrustAnchor[];
  /** Negative trust anchors: names that are insecure regardless of what their parents prove (RFC 7646). */
  readonly negativeAnchors: readonly Name[];
}

/** Opens the memory that threads of the node with the same trust points share; null = not shared. */
export type ShareCuts = (points: TrustPoints) => SealedRecords | null;

/** Finds and caches zones and their keys. Each thread has one. */
export class TrustChain {
  private anchored: readonly AnchoredZone[];
  private readonly negativeAnchors: readonly Name[];
  private readonly fetch: Fetch | null;
  private readonly clock: Clock;
  /** Earliest correct time, in Unix milliseconds: if the clock shows an earlier time, the clock is wrong. */
  clockFloorMs = 0;
  private cuts: CutCache;
  private readonly share: ShareCuts;

  /**
   * Without `fetch`, the chain sends no queries: zones that neither this thread nor another has proven are unavailable.
   */
  constructor(
    { anchors, negativeAnchors }: TrustPoints,
    fetch: Fetch | null,
    clock: Clock,
    share: ShareCuts = () => null,
  ) {
    this.anchored = anchorsByZone(anchors);
    this.negativeAnchors = negativeAnchors;
    this.share = share;
    this.cuts = this.newCuts(anchors);
    this.fetch = fetch;
    this.clock = clock;
  }

  /**
   * The zone that contains a name, found by a walk from the closest anchor down to the name. A `signer` at or above the
   * name, as named in signatures, ends the walk, and its keys are requested together with its DS. The signer is
   * unproven, so it does not choose where the walk begins, and a signer above the anchor is ignored.
   */
  zoneOf(name: Name, budget: Budget, signer?: Name): Soon<Zone> {
    return run(this.walk(name, budget, signer));
  }

  private *walk(name: Name, budget: Budget, signer?: Name): Steps<Zone> {
    const point = this.pointAbove(name);
    if (point === undefined) return { kind: 'indeterminate' };
    const apex = point.zone;
    if (this.isNegative(name, apex)) return { kind: 'insecure' };
    // The whole walk uses the same cuts, even if the anchors are replaced during it.
    const { cuts } = this;
    const key = nameKey(name);
    const apexKey = key.slice(name.length - apex.length);
    const top =
      this.known(cuts, apexKey) ??
      (yield* settled(this.cutAt(cuts, apex, apexKey, budget, () => this.openAnchor(point, budget))));
    if (top?.kind !== 'secure') return zoneWithoutKeys(top);
    let zone = top;
    const endsAtSigner = signer !== undefined && isAtOrBelow(signer, apex);
    const last = labelCount(endsAtSigner ? signer : name);
    for (let labels = labelCount(apex) + 1; labels <= last; labels++) {
      const at = ancestor(name, labels);
      const above = zone;
      const asksKeys = endsAtSigner && labels === last;
      const atKey = key.slice(name.length - at.length);
      const cut =
        this.known(cuts, atKey) ??
        (yield* settled(
          this.cutAt(cuts, at, atKey, budget, () => this.openCut(at, above, asksKeys, budget)),
        ));
      if (cut?.kind === 'secure') zone = cut;
      else if (cut?.kind === 'nothing-below') return zone;
      else if (cut?.kind !== 'none') return zoneWithoutKeys(cut);
    }
    return zone;
  }

  /** The deepest known zone above a name, in this thread's cuts or in shared cuts; sends no queries. */
  knownZone(name: Name): Zone {
    const point = this.pointAbove(name);
    if (point === undefined) return { kind: 'indeterminate' };
    if (this.isNegative(name, point.zone)) return { kind: 'insecure' };
    const { cuts } = this;
    const key = nameKey(name);
    let zone: Zone = { kind: 'unavailable' };
    for (let labels = labelCount(point.zone); labels <= labelCount(name); labels++) {
      const at = ancestor(name, labels);
      const atKey = key.slice(name.length - at.length);
      const cut = this.known(cuts, atKey) ?? this.knownElsewhere(cuts, at, atKey);
      if (cut === undefined || cut.kind === 'nothing-below') return zone;
      if (cut.kind === 'secure') zone = cut;
      else if (cut.kind !== 'none') return zoneWithoutKeys(cut);
    }
    return zone;
  }

  /**
   * Whether a zone with keys is known to begin below `above` on the path to a name; sends no queries, because finding
   * every cut costs one query per label.
   */
  knowsZoneBetween(name: Name, above: Name): boolean {
    for (let labels = labelCount(above) + 1; labels <= labelCount(name); labels++) {
      if (this.known(this.cuts, nameKey(ancestor(name, labels)))?.kind === 'secure') return true;
    }
    return false;
  }

  /** Whether the zone of this name has a trust anchor. */
  beginsAt(name: Name): boolean {
    return this.anchored.some(({ zone }) => isSame(zone, name));
  }

  /** The zone of the closest trust anchor above a name; null = there is none. */
  anchorZone(name: Name): Name | null {
    return this.pointAbove(name)?.zone ?? null;
  }

  /** Whether a name is exempt from validation (RFC 7646). */
  isExempt(name: Name): boolean {
    const point = this.pointAbove(name);
    return point !== undefined && this.isNegative(name, point.zone);
  }

  /** Replaces the trust anchors and clears all cuts. */
  trust(anchors: readonly TrustAnchor[]): void {
    this.anchored = anchorsByZone(anchors);
    this.cuts = this.newCuts(anchors);
  }

  /** The keys of a zone with trust anchors, and which keys signed them, always from a new query; null = no response. */
  async observe(zone: Name, budget: Budget): Promise<TrustPointKeys | null> {
    for (let attempt = 1; ; attempt++) {
      const fetched = await this.ask(zone, RRType.DNSKEY, budget);
      const anchors = this.anchored.find((it) => isSame(it.zone, zone))?.anchors ?? [];
      if (fetched === null) return null;
      const { sets, upstream } = fetched;
      const keys = await readTrustPoint(zone, sets, anchors, this.nowSecs, budget);
      if (keys?.isTrusted === true || !budget.avoid(upstream) || attempt >= MAX_ATTEMPTS) return keys;
    }
  }

  /** The current time, for the validity of signatures. */
  get nowSecs(): NowSecs {
    const nowMs = this.clock.nowMs();
    return nowMs < this.clockFloorMs ? null : Math.floor(nowMs / 1000);
  }

  private newCuts(anchors: readonly TrustAnchor[]): CutCache {
    return new CutCache(this.share({ anchors, negativeAnchors: this.negativeAnchors }));
  }

  private isNegative(name: Name, apex: Name): boolean {
    return this.negativeAnchors.some((it) => isAtOrBelow(name, it) && isAtOrBelow(it, apex));
  }

  /** The closest zone with trust anchors that contains the name; undefined = there is none. */
  private pointAbove(name: Name): AnchoredZone | undefined {
    return this.anchored.find(({ zone }) => isAtOrBelow(name, zone));
  }

  private known(cuts: CutCache, key: string): Cut | undefined {
    return cuts.find(key, this.clock.monotonicMs());
  }

  private knownElsewhere(cuts: CutCache, at: Name, key: string): Cut | undefined {
    return cuts.findShared(at, key, this.clock.monotonicMs());
  }

  /**
   * A cut that is not in this thread's map: from another thread, from a lookup in progress, or by `openCut`; null =
   * unavailable.
   */
  private cutAt(
    cuts: CutCache,
    at: Name,
    key: string,
    budget: Budget,
    open: () => Promise<TimedCut | null>,
  ): Soon<Cut | null> {
    const known = this.knownElsewhere(cuts, at, key);
    if (known !== undefined) return known;
    return this.fetch === null ? null : this.openShared(cuts, at, key, budget, open);
  }

  private async openShared(
    cuts: CutCache,
    at: Name,
    key: string,
    budget: Budget,
    open: () => Promise<TimedCut | null>,
  ): Promise<Cut | null> {
    for (;;) {
      const known = this.known(cuts, key) ?? this.knownElsewhere(cuts, at, key);
      if (known !== undefined) return known;
      const others = cuts.underWay.get(key);
      if (others === undefined) break;
      const found = await others;
      if (found !== null) return found;
      // The question that started the lookup may have run out of budget: retry once with this question's own budget.
    }
    const work = this.openAgain(cuts, at, key, budget, open);
    cuts.underWay.set(key, work);
    try {
      return await work;
    } finally {
      cuts.underWay.delete(key);
    }
  }

  private async openAgain(
    cuts: CutCache,
    at: Name,
    key: string,
    budget: Budget,
    open: () => Promise<TimedCut | null>,
  ): Promise<Cut | null> {
    let found: TimedCut | null = null;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && !budget.isSpent; attempt++) {
      const { avoided } = budget;
      found = (await open()) ?? found;
      if (found !== null && found.cut.kind !== 'bogus') break;
      if (attempt >= ATTEMPTS && budget.avoided === avoided) break;
    }
    // A used-up budget proves nothing about the zone, so the result is not stored.
    if (found === null || (found.cut.kind === 'bogus' && budget.isSpent)) return null;
    const { cut, ttlSecs } = found;
    const bounded = Math.min(Math.max(ttlSecs, MIN_TTL_SECS), MAX_TTL_SECS);
    const keptSecs = cut.kind === 'bogus' ? BOGUS_TTL_SECS : bounded;
    cuts.keep(at, key, { cut, expiresAtMs: this.clock.monotonicMs() + keptSecs * 1000 });
    return cut;
  }

  private openAnchor({ zone, anchors }: AnchoredZone, budget: Budget): Promise<TimedCut | null> {
    const introduction = introductionByAnchors(anchors);
    if (introduction === null) return Promise.resolve({ cut: { kind: 'insecure' }, ttlSecs: MAX_TTL_SECS });
    return this.openZone(zone, introduction, MAX_TTL_SECS, budget);
  }

  private async openZone(
    at: Name,
    introduction: Introduction,
    ttlSecs: number,
    budget: Budget,
    fetchedKeys?: Fetched | null,
  ): Promise<TimedCut | null> {
    const fetched = fetchedKeys === undefined ? await this.ask(at, RRType.DNSKEY, budget) : fetchedKeys;
    if (fetched === null) return null;
    const keySet = fetched.sets.find((set) => set.isAnswer && set.type === RRType.DNSKEY);
    const found = await proveKeys(at, introduction, keySet, this.nowSecs, budget);
    if (found.cut.kind === 'bogus') budget.avoid(fetched.upstream);
    return { cut: found.cut, ttlSecs: Math.min(found.ttlSecs, ttlSecs) };
  }

  /** The cut at a name one or more labels below the apex of a secure zone. */
  private async openCut(
    at: Name,
    above: ZoneKeys,
    asksKeys: boolean,
    budget: Budget,
  ): Promise<TimedCut | null> {
    const [fetched, fetchedKeys] = await Promise.all([
      this.ask(at, RRType.DS, budget),
      asksKeys ? this.ask(at, RRType.DNSKEY, budget) : undefined,
    ]);
    if (fetched === null) return null;
    const { sets, upstream } = fetched;
    const ds = sets.find((set) => set.isAnswer && set.type === RRType.DS && isSame(set.owner, at));
    if (ds === undefined) {
      const found = await this.withoutDs(at, above, sets, budget);
      if (found.cut.kind === 'bogus') budget.avoid(upstream);
      return found;
    }
    const proof = await proveSet(ds, above, this.nowSecs, budget);
    if (proof.kind === 'bogus') {
      budget.avoid(upstream);
      return { cut: proof, ttlSecs: 0 };
    }
    // A wildcard does not create a delegation.
    if (proof.encloserLabels >= 0)
      return { cut: { kind: 'bogus', extendedError: ExtendedError.DNSSEC_BOGUS }, ttlSecs: 0 };
    const introduction = introductionByDs(ds.rdatas);
    if (introduction === null) return { cut: { kind: 'insecure' }, ttlSecs: proof.ttlSecs };
    return this.openZone(at, introduction, proof.ttlSecs, budget, fetchedKeys);
  }

  private async withoutDs(
    at: Name,
    above: ZoneKeys,
    sets: readonly SignedRRset[],
    budget: Budget,
  ): Promise<TimedCut> {
    // An alias is not an apex. No proof is needed here: without a cut, the zone above must have signed the alias.
    if (sets.some((set) => set.isAnswer && set.type === RRType.CNAME))
      return { cut: { kind: 'none' }, ttlSecs: MIN_TTL_SECS };
    const proven: SignedRRset[] = [];
    let extendedError: number = ExtendedError.NSEC_MISSING;
    let ttlSecs = MAX_TTL_SECS;
    for (const set of sets) {
      if (set.isAnswer || (set.type !== RRType.NSEC && set.type !== RRType.NSEC3)) continue;
      const proof = await proveSet(set, above, this.nowSecs, budget);
      if (proof.kind === 'bogus') extendedError = proof.extendedError;
      else if (proof.encloserLabels < 0) {
        proven.push(set);
        ttlSecs = Math.min(ttlSecs, proof.ttlSecs);
      }
    }
    const delegation = denialOf(proven, above.name, budget)?.delegation(at) ?? 'unproven';
    if (delegation === 'unproven') return { cut: { kind: 'bogus', extendedError }, ttlSecs: 0 };
    return { cut: { kind: delegation === 'unsigned' ? 'insecure' : delegation }, ttlSecs };
  }

  private ask(name: Name, type: number, budget: Budget): Promise<Fetched | null> {
    const isAsked = this.fetch !== null && budget.spendSubquery(this.clock.monotonicMs());
    return isAsked ? this.fetch(name, type, budget) : Promise.resolve(null);
  }
}

function zoneWithoutKeys(cut: Cut | null): Zone {
  if (cut === null) return { kind: 'unavailable' };
  return cut.kind === 'bogus' ? cut : { kind: 'insecure' };
}
