/**
 * Weir's statuses, types and rcodes in the words of the compatibility API. Each has one counterpart, so that sums stay
 * sums; what counts as blocked here counts as blocked there. Pure. ARCHITECTURE.md has the reasons.
 */
import {
  COMPAT_REPLIES,
  COMPAT_STATUSES,
  COMPAT_TYPES,
  type CompatReply,
  type CompatStatus,
  type CompatType,
} from '../../../shared/api/compat/compat-api.ts';
import type { QueryStatusName } from '../../../shared/query-log.ts';

const STATUS_OF: Readonly<Record<QueryStatusName, CompatStatus>> = {
  ALLOWED: 'FORWARDED',
  // An upstream was asked in vain.
  SERVFAIL: 'FORWARDED',
  TIMEOUT: 'FORWARDED',
  CACHED: 'CACHE',
  // What this server knows by itself is its cache there.
  LOCAL: 'CACHE',
  SAFE_SEARCH: 'CACHE',
  STALE: 'CACHE_STALE',
  BLOCKED_LIST: 'GRAVITY',
  BLOCKED_CNAME: 'GRAVITY_CNAME',
  BLOCKED_MANAGED: 'DENYLIST',
  BLOCKED_SERVICE: 'DENYLIST',
  BLOCKED_REGEX: 'REGEX',
  BLOCKED_SCHEDULE: 'SPECIAL_DOMAIN',
  BLOCKED_PTR: 'SPECIAL_DOMAIN',
  BLOCKED_NON_FQDN: 'SPECIAL_DOMAIN',
  BLOCKED_REBIND: 'EXTERNAL_BLOCKED_IP',
  // Refused without being blocked, for which there is no word.
  RATE_LIMITED: 'UNKNOWN',
  REFUSED: 'UNKNOWN',
};

/** Rcodes that say all about an answer; what one with NOERROR held is not counted. */
const REPLY_OF: Readonly<Record<string, CompatReply>> = {
  NOERROR: 'UNKNOWN',
  NXDOMAIN: 'NXDOMAIN',
  SERVFAIL: 'SERVFAIL',
  REFUSED: 'REFUSED',
  NOTIMP: 'NOTIMP',
};

const TYPES: ReadonlySet<string> = new Set(COMPAT_TYPES);
const FORWARDED: readonly CompatStatus[] = ['FORWARDED', 'RETRIED', 'RETRIED_DNSSEC'];
const CACHED: readonly CompatStatus[] = ['CACHE', 'CACHE_STALE'];
const NEITHER: readonly CompatStatus[] = ['UNKNOWN', 'IN_PROGRESS'];

/** The counterpart of a status. */
export function compatStatus(status: QueryStatusName): CompatStatus {
  return STATUS_OF[status];
}

/** The statuses with this counterpart. */
export function statusesOf(status: CompatStatus): QueryStatusName[] {
  const names = Object.keys(STATUS_OF) as QueryStatusName[];
  return names.filter((name) => STATUS_OF[name] === status);
}

/** The counterpart of a type's mnemonic. */
export function compatType(name: string): CompatType {
  return TYPES.has(name) ? (name as CompatType) : 'OTHER';
}

/** The counterpart of an rcode's mnemonic. */
export function replyOfRcode(name: string): CompatReply {
  return Object.hasOwn(REPLY_OF, name) ? REPLY_OF[name]! : 'OTHER';
}

/** Queries by status, with those that none had. */
export function sumStatuses(counts: Readonly<Record<string, number>>): Record<CompatStatus, number> {
  return sumAs(COMPAT_STATUSES, counts, (name) => STATUS_OF[name as QueryStatusName]);
}

/** Queries by type, with those that none had. */
export function sumTypes(counts: Readonly<Record<string, number>>): Record<CompatType, number> {
  return sumAs(COMPAT_TYPES, counts, compatType);
}

/** Queries by reply, with those that none had. */
export function sumReplies(counts: Readonly<Record<string, number>>): Record<CompatReply, number> {
  return sumAs(COMPAT_REPLIES, counts, replyOfRcode);
}

/** What became of queries as a whole. */
export interface Outcome {
  readonly total: number;
  readonly blocked: number;
  readonly forwarded: number;
  readonly cached: number;
}

/** Adds up statuses: what is neither forwarded nor cached nor without a word is blocked. */
export function outcomeOf(statuses: Readonly<Record<CompatStatus, number>>): Outcome {
  const sum = (names: readonly CompatStatus[]): number =>
    names.reduce((total, name) => total + statuses[name], 0);
  const total = sum(COMPAT_STATUSES);
  const [forwarded, cached] = [sum(FORWARDED), sum(CACHED)];
  return { total, forwarded, cached, blocked: total - forwarded - cached - sum(NEITHER) };
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
