/**
 * Decides which queries to a server are hardened. With `auto`, a feature is used after probes have shown that the
 * server supports it, and never for private addresses or in forward zones; with `on`, it is used from the first query
 * until probes have shown that the server does not support it. A disabled feature is used again only after new probes
 * succeed.
 */
import type { HardeningMode, HardeningSettings } from '../../../shared/policy/hardening-settings.ts';
import { scopeOfText } from '../../../shared/net/address-scope.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import type { CapabilityRecord, HardeningFeature } from './capability-record.ts';
import { inRandomCase, serverCookieIn } from './reply-marks.ts';

/** The features that can harden queries, in the order in which they are probed. */
export const HARDENING_FEATURES: readonly HardeningFeature[] = ['case', 'cookies'];

/** Marks of a query, and the features that they use. */
export interface UsedMarks extends QueryMarks {
  readonly features: readonly HardeningFeature[];
}

type Use = 'never' | 'earned' | 'always';

/** The hardening of queries to one server. */
export class Hardening {
  readonly record: CapabilityRecord;
  /** The features that probes may enable, or enable again. */
  readonly wanted: readonly HardeningFeature[];
  private readonly uses: Readonly<Record<HardeningFeature, Use>>;

  /** `isEligible`: whether `auto` applies to the server. */
  constructor(record: CapabilityRecord, settings: HardeningSettings, isEligible: boolean) {
    this.record = record;
    this.uses = {
      cookies: useOf(settings.cookies, isEligible),
      case: useOf(settings.caseRandomization, isEligible),
    };
    this.wanted = HARDENING_FEATURES.filter((feature) => this.uses[feature] !== 'never');
  }

  /** Whether queries currently use a feature. */
  isUsed(feature: HardeningFeature): boolean {
    const use = this.uses[feature];
    if (use === 'never') return false;
    const { record } = this;
    if (use === 'earned') return record.finding(feature) === 'supported';
    const last = record.lastFinding(feature);
    return last === 'supported' || last === 'unknown';
  }

  /** Whether probes have shown that the server supports a feature. */
  isEarned(feature: HardeningFeature): boolean {
    return this.record.finding(feature) === 'supported';
  }

  /** Marks for a query for this lower-case name; null = plain query. Without an OPT record there are no cookies. */
  marks(qname: Uint8Array, hasEdns: boolean): UsedMarks | null {
    const hasCase = this.isUsed('case');
    const hasCookie = hasEdns && this.isUsed('cookies');
    if (!hasCase && !hasCookie) return null;
    return marksWith(this.record, qname, hasCase, hasCookie);
  }

  /** Marks of a single feature, even if it is not in use. */
  marksOf(feature: HardeningFeature, qname: Uint8Array): UsedMarks {
    return marksWith(this.record, qname, feature === 'case', feature === 'cookies');
  }

  /** Stores the server cookie of a reply that repeats the marks. */
  learn(message: Uint8Array, marks: QueryMarks): void {
    const server = serverCookieIn(message, marks);
    if (server !== null && !isSame(server, marks.cookie!.subarray(8)))
      this.record.learnCookie(server, marks.cookie!);
  }
}

/** Whether `auto` applies to a server: not at a private address, where software is often old and rarely attacked. */
export function isEligible(ip: string, isZone: boolean): boolean {
  return !isZone && scopeOfText(ip) === 'public';
}

function useOf(mode: HardeningMode, eligible: boolean): Use {
  if (mode === 'auto') return eligible ? 'earned' : 'never';
  return mode === 'on' ? 'always' : 'never';
}

function marksWith(
  record: CapabilityRecord,
  qname: Uint8Array,
  hasCase: boolean,
  hasCookie: boolean,
): UsedMarks {
  const features = HARDENING_FEATURES.filter((feature) => (feature === 'case' ? hasCase : hasCookie));
  const name = hasCase ? inRandomCase(qname) : qname;
  return { name, cookie: hasCookie ? record.cookie() : null, features };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((octet, i) => octet === other[i]);
}
