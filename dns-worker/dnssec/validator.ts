/**
 * Validates one answer (RFC 4035 section 5). Every RRset must be signed by its zone, unless the zone is proven to be
 * unsigned; wildcard expansions and denials of existence need a proof. The weakest part decides. `trust-chain.ts` finds
 * the keys.
 */
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { readU32, writeU32 } from '../../shared/dns/wire.ts';
import { DnssecStatus, type DnssecStatusCode } from '../../shared/query-log.ts';
import { run, settled, type Soon, type Steps } from '../../shared/soon.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { readRRsets, type SignedRRset } from './answer-records.ts';
import type { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import { isAtOrBelow, isBelow, isSame, type Name, parent } from './names.ts';
import type { Denial, Proof } from './proof.ts';
import { proveSet } from './signature.ts';
import type { SecureZone, TrustChain, Zone } from './trust-chain.ts';

/** Result of a validation. */
export interface ValidationResult {
  readonly status: DnssecStatusCode;
  /**
   * Extended error (EDE) if the status is bogus, or indeterminate because a server did not respond; -1 for any other
   * status.
   */
  readonly extendedError: number;
  /** Whether a query for the chain of trust got no response: a temporary failure, not a result. */
  readonly isUnavailable: boolean;
  /** Seconds for which each checked RRset may be trusted. */
  readonly lifetimes: ReadonlyMap<SignedRRset, number>;
}

/** Results in ascending order of rank; the lowest decides for the whole answer. */
type Weight = Exclude<Zone, { kind: 'secure' }> | { readonly kind: 'secure' };

const ORDER: readonly Weight['kind'][] = ['bogus', 'unavailable', 'indeterminate', 'insecure', 'secure'];
const SECURE: Weight = { kind: 'secure' };
const INSECURE: Weight = { kind: 'insecure' };
const INDETERMINATE: Weight = { kind: 'indeterminate' };

/**
 * Validates the answer to a question of class IN within the budget. Returns a promise only if keys must be requested or
 * another thread verifies a signature.
 */
export function validate(
  qname: Name,
  qtype: number,
  answer: CacheableAnswer,
  chain: TrustChain,
  budget: Budget,
): Soon<ValidationResult> {
  return run(new Validation(qname, qtype, answer, chain, budget).steps());
}

/** The answer, or a copy with TTLs that the signatures allow (RFC 4035 section 5.3.3). */
export function validatedAnswer(
  answer: CacheableAnswer,
  { lifetimes }: Pick<ValidationResult, 'lifetimes'>,
): CacheableAnswer {
  let { body, minTtlSecs } = answer;
  for (const [{ ttlOffsets }, ttlSecs] of lifetimes) {
    for (const at of ttlOffsets) {
      if (readU32(body, at) <= ttlSecs) continue;
      // Copy the body before changing it: other questions for the same records share it.
      if (body === answer.body) body = body.slice();
      writeU32(body, at, ttlSecs);
    }
    minTtlSecs = Math.min(minTtlSecs, ttlSecs);
  }
  return body === answer.body && minTtlSecs === answer.minTtlSecs ? answer : { ...answer, body, minTtlSecs };
}

interface ZoneDenials {
  readonly zone: Name;
  readonly sets: SignedRRset[];
  /** Parsed denial records; they are parsed after the list is complete. */
  denial?: Denial | null;
}

class Validation {
  private readonly qname: Name;
  private readonly qtype: number;
  private readonly answer: CacheableAnswer;
  private readonly chain: TrustChain;
  private readonly budget: Budget;
  private readonly sets: readonly SignedRRset[];
  private readonly lifetimes = new Map<SignedRRset, number>();
  /** Denials with a valid signature, by the zone that signed them. */
  private readonly denials: ZoneDenials[] = [];
  /** RRsets that were expanded from a wildcard. */
  private readonly expanded: {
    readonly owner: Name;
    readonly zone: Name;
    readonly encloserLabels: number;
  }[] = [];
  private weight: Weight = SECURE;

  constructor(qname: Name, qtype: number, answer: CacheableAnswer, chain: TrustChain, budget: Budget) {
    this.qname = qname;
    this.qtype = qtype;
    this.answer = answer;
    this.chain = chain;
    this.budget = budget;
    this.sets = readRRsets(qname, answer);
  }

  *steps(): Steps<ValidationResult> {
    const { answer, qtype } = this;
    yield* this.weighSets();
    for (const { owner, zone, encloserLabels } of this.expanded) {
      const denial = this.denialOf(zone);
      if (denial?.isTooCostly === true) yield* this.weighUnproven(owner, [zone]);
      else this.weighProof(denial?.wildcardAnswer(owner, encloserLabels) ?? 'unproven');
    }
    // RRSIG records are not signed, so an answer that consists of RRSIG records is insecure; a missing RRSIG record
    // proves nothing, because servers may omit RRSIG records.
    const hasNoData = !answer.negative && !this.sets.some((set) => set.isAnswer);
    if (qtype === RRType.RRSIG || hasNoData) this.weigh(INSECURE);
    const isAbsent = answer.negative && (qtype !== RRType.RRSIG || answer.rcode === Rcode.NXDOMAIN);
    if (isAbsent && !this.isBogus) yield* this.weighAbsence();
    return this.result();
  }

  private result(): ValidationResult {
    const { weight, lifetimes } = this;
    const isUnavailable = weight.kind === 'unavailable';
    const status = isUnavailable ? DnssecStatus.indeterminate : DnssecStatus[weight.kind];
    const extendedError =
      weight.kind === 'bogus'
        ? weight.extendedError
        : isUnavailable
          ? ExtendedError.NO_REACHABLE_AUTHORITY
          : -1;
    return { status, extendedError, isUnavailable, lifetimes };
  }

  private get isBogus(): boolean {
    return this.weight.kind === 'bogus';
  }

  private weigh(other: Weight): void {
    if (ORDER.indexOf(other.kind) < ORDER.indexOf(this.weight.kind)) this.weight = other;
  }

  private weighProof(proof: Proof): void {
    if (proof === 'unproven') this.weigh({ kind: 'bogus', extendedError: ExtendedError.NSEC_MISSING });
    else if (proof === 'insecure') this.weigh(INSECURE);
  }

  private *weighSets(): Steps<void> {
    const isExempt = this.chain.isExempt(this.placeOf(this.lastName()));
    for (const set of this.sets) {
      if (this.isSynthesised(set)) continue;
      const weight = yield* this.weightOf(set);
      // Records that accompany an exempt name are also exempt.
      this.weigh(isExempt && !set.isAnswer ? INSECURE : weight);
      if (this.isBogus) return;
    }
  }

  /** A CNAME that follows from a DNAME of the same answer needs no signature (RFC 6672 section 5.3.1). */
  private isSynthesised(set: SignedRRset): boolean {
    if (set.type !== RRType.CNAME || set.rdatas.length > 1 || set.signatures.length > 0) return false;
    return this.sets.some((dname) => {
      if (dname.type !== RRType.DNAME || !dname.isAnswer || !isBelow(set.owner, dname.owner)) return false;
      const prefix = set.owner.subarray(0, set.owner.length - dname.owner.length);
      return isSame(Buffer.concat([prefix, dname.rdatas[0]!]), set.rdatas[0]!);
    });
  }

  private *weightOf(set: SignedRRset): Steps<Weight> {
    // The DS of a zone belongs to its parent; the hashed owner of an NSEC3 record does not help to find its zone.
    const fromAbove = set.type === RRType.DS || set.type === RRType.NSEC3;
    const weight = yield* this.weightAt(fromAbove ? parent(set.owner) : set.owner, set);
    // NSEC exists on both sides of a cut, and a walk to a cut with a trust anchor begins at the cut.
    if (weight.kind !== 'bogus' || set.type !== RRType.NSEC || !this.chain.beginsAt(set.owner)) return weight;
    const above = yield* this.weightAt(parent(set.owner), set);
    return above.kind === 'secure' ? above : weight;
  }

  /**
   * The signer names the zone whose keys to request, which saves one query per zone cut. The signer is unproven: if its
   * keys prove nothing, the full walk down to the name decides whether a proof is needed.
   */
  private *weightAt(place: Name, set: SignedRRset): Steps<Weight> {
    const { chain, budget } = this;
    const signer = lowestSigner(set, place);
    const zone = yield* settled(chain.zoneOf(place, budget, signer));
    if (zone.kind !== 'secure') return zone;
    const weight = yield* this.prove(set, zone, place);
    if (weight.kind !== 'bogus' || signer === undefined || isSame(signer, place)) return weight;
    const own = yield* settled(chain.zoneOf(place, budget));
    if (own.kind === 'insecure') return own;
    if (own.kind !== 'secure' || isSame(own.name, zone.name)) return weight;
    const again = yield* this.prove(set, own, place);
    return again.kind === 'secure' ? again : weight;
  }

  private *prove(set: SignedRRset, zone: SecureZone, place: Name): Steps<Weight> {
    // RFC 4035 section 5.3.1: the signer must be the zone that contains the RRset, not a zone above it.
    const lowest = set.type === RRType.NSEC ? parent(place) : place;
    if (this.chain.knowsZoneBetween(lowest, zone.name))
      return { kind: 'bogus', extendedError: ExtendedError.DNSKEY_MISSING };
    const proof = yield* settled(proveSet(set, zone, this.chain.nowSecs, this.budget));
    if (proof.kind === 'bogus') return proof;
    this.lifetimes.set(set, proof.ttlSecs);
    const { encloserLabels } = proof;
    if (set.isAnswer) {
      if (encloserLabels >= 0) this.expanded.push({ owner: set.owner, zone: zone.name, encloserLabels });
    } else if (encloserLabels < 0) this.denialsOf(zone.name).sets.push(set);
    return SECURE;
  }

  private denialsOf(zone: Name): ZoneDenials {
    let entry = this.denials.find((it) => isSame(it.zone, zone));
    if (entry === undefined) this.denials.push((entry = { zone, sets: [] }));
    return entry;
  }

  private denialOf(zone: Name): Denial | null {
    const entry = this.denialsOf(zone);
    return (entry.denial ??= denialOf(entry.sets, zone, this.budget));
  }

  /** The denial of the last name or of its data must be proven, or the zone must be unsigned. */
  private *weighAbsence(): Steps<void> {
    // The name that results from a DNAME is too long (RFC 6672 section 2.2). The answer contains no data and denies
    // none.
    if (this.answer.rcode === Rcode.YXDOMAIN) {
      this.weigh(INDETERMINATE);
      return;
    }
    const name = this.lastName();
    const zones = this.denials.map((it) => it.zone).filter((zone) => isAtOrBelow(name, zone));
    const tooCostly: Name[] = [];
    for (const zone of zones) {
      const denial = this.denialOf(zone);
      if (denial?.isTooCostly === true) {
        tooCostly.push(zone);
        continue;
      }
      const proof =
        this.answer.rcode === Rcode.NXDOMAIN ? denial?.nameError(name) : denial?.noData(name, this.qtype);
      if (proof === undefined || proof === 'unproven') continue;
      this.weighProof(proof);
      return;
    }
    yield* this.weighUnproven(this.placeOf(name), tooCostly);
  }

  /** A missing proof at a name is insecure if its zone is insecure or its denial costs too much. */
  private *weighUnproven(name: Name, tooCostly: readonly Name[]): Steps<void> {
    const zone = yield* settled(this.chain.zoneOf(name, this.budget));
    if (zone.kind !== 'secure') this.weigh(zone);
    else this.weighProof(tooCostly.some((it) => isSame(it, zone.name)) ? 'insecure' : 'unproven');
  }

  /** The name whose zone denies the requested data: the end of the alias chain. */
  private placeOf(name: Name): Name {
    return this.qtype === RRType.DS ? parent(name) : name;
  }

  private lastName(): Name {
    let name = this.qname;
    if (this.qtype === RRType.CNAME) return name;
    // Each alias is followed at most once, so a loop ends.
    for (let left = this.sets.length; left > 0; left--) {
      const alias = this.sets.find(
        (set) => set.isAnswer && set.type === RRType.CNAME && isSame(set.owner, name),
      );
      if (alias === undefined) break;
      name = alias.rdatas[0]!;
    }
    return name;
  }
}

/** The deepest signer that may be the zone of this RRset; invalid signatures cannot be recognized here. */
function lowestSigner(set: SignedRRset, place: Name): Name | undefined {
  let lowest: Name | undefined;
  for (const { signer } of set.signatures)
    if (isAtOrBelow(place, signer) && (lowest === undefined || signer.length > lowest.length))
      lowest = signer;
  return lowest;
}
