/**
 * Maps Weir's statuses, types and rcodes to those of the compatibility API. Each of them has exactly one counterpart,
 * so that sums are preserved; a query counts as blocked in both APIs or in neither. Pure.
 * docs/decisions/0080-pihole-api.md has the reasons.
 */
import {
  COMPAT_REPLIES,
  COMPAT_STATUSES,
  COMPAT_TYPES,
  type CompatReply,
  type CompatStatus,
  type CompatType,
} from '../../../shared/api/compat/compat-api.ts';
import { rrTypeCode, rrTypeName } from '../../../shared/dns/iana.ts';
import type { Decision, QueryStatusName } from '../../../shared/query-log.ts';

const STATUS_OF: Readonly<Record<Decision, CompatStatus>> = {
  ALLOWED: 'FORWARDED',
  // An upstream was queried and did not answer.
  SERVFAIL: 'FORWARDED',
  TIMEOUT: 'FORWARDED',
  CACHED: 'CACHE',
  // The compatibility API reports local answers as cached.
  LOCAL: 'CACHE',
  SAFE_SEARCH: 'CACHE',
  STALE: 'CACHE_STALE',
  BLOCKED_LIST: 'GRAVITY',
  BLOCKED_CNAME: 'GRAVITY_CNAME',
  'BLOCKED_CNAME:managed': 'DENYLIST_CNAME',
  'BLOCKED_CNAME:regex': 'REGEX_CNAME',
  BLOCKED_MANAGED: 'DENYLIST',
  BLOCKED_SERVICE: 'DENYLIST',
  BLOCKED_REGEX: 'REGEX',
  'LOCAL:canary': 'SPECIAL_DOMAIN',
  BLOCKED_SCHEDULE: 'SPECIAL_DOMAIN',
  // In the compatibility API, private addresses without a name count as answered from the cache.
  BLOCKED_PTR: 'CACHE',
  BLOCKED_NON_FQDN: 'SPECIAL_DOMAIN',
  BLOCKED_REBIND: 'EXTERNAL_BLOCKED_IP',
  // FTL has no status for a refused query that is not blocked.
  RATE_LIMITED: 'UNKNOWN',
  REFUSED: 'UNKNOWN',
};

const TYPES: ReadonlySet<string> = new Set(COMPAT_TYPES);
const FORWARDED: readonly CompatStatus[] = ['FORWARDED', 'RETRIED', 'RETRIED_DNSSEC'];
const CACHED: readonly CompatStatus[] = ['CACHE', 'CACHE_STALE'];
const NEITHER: readonly CompatStatus[] = ['UNKNOWN', 'IN_PROGRESS'];

const DECISIONS = Object.keys(STATUS_OF) as Decision[];

/** The counterpart of a decision. */
export function compatStatus(decision: Decision): CompatStatus {
  return STATUS_OF[decision];
}

/** The decisions with one of these counterparts. */
export function decisionsOf(...statuses: readonly CompatStatus[]): Decision[] {
  return DECISIONS.filter((decision) => statuses.includes(STATUS_OF[decision]));
}

/** Decisions whose counterpart counts as blocked, and all other decisions. */
export const BLOCKED_DECISIONS: readonly Decision[] = DECISIONS.filter(isBlocked);
export const PERMITTED_DECISIONS: readonly Decision[] = DECISIONS.filter((decision) => !isBlocked(decision));

/** The counterpart of a type's mnemonic. */
export function compatType(name: string): CompatType {
  return TYPES.has(name) ? (name as CompatType) : 'OTHER';
}

/** Counts of queries by value; some decisions are also included in the count of their status. */
export interface DecisionCounts {
  readonly status: Readonly<Record<string, number>>;
  readonly decision: Readonly<Record<string, number>>;
}

/** Queries by status, including zeros. */
export function sumStatuses({ status, decision }: DecisionCounts): Record<CompatStatus, number> {
  const sums = sumAs(COMPAT_STATUSES, status, (name) => STATUS_OF[name as QueryStatusName]);
  for (const [name, count] of Object.entries(decision)) {
    const [base] = name.split(':');
    sums[STATUS_OF[base as QueryStatusName]] -= count;
    sums[STATUS_OF[name as Decision]] += count;
  }
  return sums;
}

/** Queries by type number, including zeros. */
export function sumTypes(counts: Readonly<Record<string, number>>): Record<CompatType, number> {
  return sumAs(COMPAT_TYPES, counts, (number) => compatType(rrTypeName(Number(number))));
}

/** Numbers of the types with a counterpart. */
export const NAMED_TYPES: readonly number[] = COMPAT_TYPES.flatMap((name) => rrTypeCode(name) ?? []);

/** Queries by reply, including zeros; queries of `total` whose reply was not counted are UNKNOWN. */
export function sumReplies(
  counts: Readonly<Record<string, number>>,
  total: number,
): Record<CompatReply, number> {
  const sums = sumAs(COMPAT_REPLIES, counts, (name) => name as CompatReply);
  const counted = Object.values(sums).reduce((sum, count) => sum + count, 0);
  sums.UNKNOWN += total - counted;
  return sums;
}

/** Counts of the outcomes of all queries. */
export interface Outcome {
  readonly total: number;
  readonly blocked: number;
  readonly forwarded: number;
  readonly cached: number;
}

/** Adds up statuses: everything that is neither forwarded nor cached nor unknown is blocked. */
export function outcomeOf(statuses: Readonly<Record<CompatStatus, number>>): Outcome {
  const sum = (names: readonly CompatStatus[]): number =>
    names.reduce((total, name) => total + statuses[name], 0);
  const total = sum(COMPAT_STATUSES);
  const [forwarded, cached] = [sum(FORWARDED), sum(CACHED)];
  return { total, forwarded, cached, blocked: total - forwarded - cached - sum(NEITHER) };
}

function isBlocked(decision: Decision): boolean {
  return ![...FORWARDED, ...CACHED, ...NEITHER].includes(STATUS_OF[decision]);
}

function sumAs<Name extends string>(
  names: readonly Name[],
  counts: Readonly<Record<string, number>>,
  nameOf: (key: string) => Name,
): Record<Name, number> {
  const sums = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  for (const [key, count] of Object.entries(counts)) sums[nameOf(key)] += count;
  return sums;
}
