/**
 * The verdict on one answer (RFC 4035 section 5): every RRset is signed by its zone or its zone is proven to
 * be unsigned; what was made from a wildcard, and what is said not to exist, is proven so. The weakest part
 * decides. Where keys come from is `trust-chain.ts`.
 */
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { DnssecStatus, type DnssecStatusCode } from '../../shared/query-log.ts';
import type { CacheableAnswer } from '../resolve/cacheable-answer.ts';
import { readSets, type SignedSet } from './answer-records.ts';
import type { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import { isAtOrBelow, isBelow, isSame, type Name, nameKey, parent } from './names.ts';
import type { Proof } from './proof.ts';
import { proveSet } from './signature.ts';
import type { TrustChain, Zone } from './trust-chain.ts';

/** What validating came to. */
export interface Verdict {
  readonly status: DnssecStatusCode;
  /** Why, where the status is bogus, or indeterminate for want of an answer; else -1. */
  readonly extendedError: number;
  /** Nobody answered for the chain of trust: that may pass, so it is no verdict on the answer. */
  readonly isUnavailable: boolean;
  /** Seconds for which each checked RRset may be believed. */
  readonly lifetimes: ReadonlyMap<SignedSet, number>;
}

/** How a part of an answer weighs; the smallest one decides. */
type Weight = Exclude<Zone, { kind: 'secure' }> | { readonly kind: 'secure' };

const ORDER: readonly Weight['kind'][] = ['bogus', 'unavailable', 'indeterminate', 'insecure', 'secure'];
const SECURE: Weight = { kind: 'secure' };
const INSECURE: Weight = { kind: 'insecure' };
const INDETERMINATE: Weight = { kind: 'indeterminate' };

/** Validates the answer to a question of class IN. Costs no more than the budget. */
export function validate(
  qname: Name,
  qtype: number,
  answer: CacheableAnswer,
  chain: TrustChain,
  budget: Budget,
): Promise<Verdict> {
  return new Validation(qname, qtype, answer, chain, budget).run();
}

class Validation {
  private readonly qname: Name;
  private readonly qtype: number;
  private readonly answer: CacheableAnswer;
  private readonly chain: TrustChain;
  private readonly budget: Budget;
  private readonly sets: readonly SignedSet[];
  private readonly lifetimes = new Map<SignedSet, number>();
  /** Denials whose signature holds, by the zone that signed them. */
  private readonly denials = new Map<string, { readonly zone: Name; readonly sets: SignedSet[] }>();
  /** RRsets that a wildcard was expanded to. */
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
    this.sets = readSets(qname, answer);
  }

  async run(): Promise<Verdict> {
    // Signatures are not signed.
    if (this.qtype === RRType.RRSIG) this.weigh(INSECURE);
    else {
      await this.weighSets();
      for (const it of this.expanded)
        this.weighProof(this.denialOf(it.zone)?.wildcardAnswer(it.owner, it.encloserLabels) ?? 'unproven');
      if (this.answer.negative && !this.isBogus) await this.weighAbsence();
    }
    return this.verdict();
  }

  private verdict(): Verdict {
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

  private async weighSets(): Promise<void> {
    for (const set of this.sets) {
      if (this.isSynthesised(set)) continue;
      this.weigh(await this.weightOf(set));
      if (this.isBogus) return;
    }
  }

  /** A CNAME that follows from a DNAME of the same answer needs no signature (RFC 6672 section 5.3.1). */
  private isSynthesised(set: SignedSet): boolean {
    if (set.type !== RRType.CNAME || set.signatures.length > 0) return false;
    return this.sets.some((dname) => {
      if (dname.type !== RRType.DNAME || !dname.isAnswer || !isBelow(set.owner, dname.owner)) return false;
      const prefix = set.owner.subarray(0, set.owner.length - dname.owner.length);
      return isSame(Buffer.concat([prefix, dname.rdatas[0]!]), set.rdatas[0]!);
    });
  }

  private async weightOf(set: SignedSet): Promise<Weight> {
    // The DS of a zone is its parent's; a hash is no name to look for a zone at.
    const fromAbove = set.type === RRType.DS || set.type === RRType.NSEC3;
    const highest = fromAbove ? parent(set.owner) : set.owner;
    const signer = set.signatures.find((it) => isAtOrBelow(highest, it.signer))?.signer;
    const zone = await this.chain.zoneOf(signer ?? highest, this.budget, signer !== undefined);
    if (zone.kind !== 'secure') return zone;
    if (signer === undefined) return { kind: 'bogus', extendedError: ExtendedError.RRSIGS_MISSING };
    // RFC 4035 section 5.3.1: the signer is the zone that holds the RRset, none above it. NSEC is at both sides of a cut.
    const lowest = set.type === RRType.NSEC ? parent(set.owner) : highest;
    if (!isSame(zone.name, signer) || this.chain.knowsZoneBetween(lowest, signer))
      return { kind: 'bogus', extendedError: ExtendedError.DNSKEY_MISSING };
    const proof = await proveSet(set, zone, this.chain.nowSecs, this.budget);
    if (proof.kind === 'bogus') return proof;
    this.lifetimes.set(set, proof.ttlSecs);
    const { encloserLabels } = proof;
    if (set.isAnswer) {
      if (encloserLabels >= 0) this.expanded.push({ owner: set.owner, zone: zone.name, encloserLabels });
    } else if (encloserLabels < 0) this.denialsOf(zone.name).push(set);
    return SECURE;
  }

  private denialsOf(zone: Name): SignedSet[] {
    const key = nameKey(zone);
    let entry = this.denials.get(key);
    if (entry === undefined) this.denials.set(key, (entry = { zone, sets: [] }));
    return entry.sets;
  }

  private denialOf(zone: Name): ReturnType<typeof denialOf> {
    return denialOf(this.denialsOf(zone), zone, this.budget);
  }

  /** That the last name of the chain does not exist, or has no data, must be proven, or its zone be unsigned. */
  private async weighAbsence(): Promise<void> {
    // A DNAME makes a name that is too long (RFC 6672 section 2.2). That carries no data and denies none.
    if (this.answer.rcode === Rcode.YXDOMAIN) {
      this.weigh(INDETERMINATE);
      return;
    }
    const name = this.lastName();
    const zones = [...this.denials.values()].map((it) => it.zone).filter((zone) => isAtOrBelow(name, zone));
    for (const zone of zones) {
      const denial = this.denialOf(zone);
      const proof =
        this.answer.rcode === Rcode.NXDOMAIN ? denial?.nameError(name) : denial?.noData(name, this.qtype);
      if (proof === undefined || proof === 'unproven') continue;
      this.weighProof(proof);
      return;
    }
    const zone = await this.chain.zoneOf(this.qtype === RRType.DS ? parent(name) : name, this.budget);
    if (zone.kind === 'secure') this.weighProof('unproven');
    else this.weigh(zone);
  }

  private lastName(): Name {
    let name = this.qname;
    if (this.qtype === RRType.CNAME || this.qtype === RRType.ANY) return name;
    // Each alias is followed once at most, so a circle ends.
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
