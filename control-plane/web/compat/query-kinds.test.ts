import { describe, expect, test } from '@jest/globals';
import { COMPAT_STATUSES, COMPAT_TYPES } from '../../../shared/api/compat/compat-api.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { isBlockedStatus, QUERY_STATUS_NAMES, QueryStatus } from '../../../shared/query-log.ts';
import {
  BLOCKED_DECISIONS,
  compatStatus,
  decisionsOf,
  outcomeOf,
  PERMITTED_DECISIONS,
  sumReplies,
  sumStatuses,
  sumTypes,
} from './query-kinds.ts';

const PERMITTED_THERE = new Set(['BLOCKED_PTR']);

describe("compatStatus() and outcomeOf(), which convert Weir's statuses to those of Pi-hole,", () => {
  test.each(QUERY_STATUS_NAMES)('%s counts as blocked, as in FTL', (name) => {
    const { total, blocked } = outcomeOf(sumStatuses({ status: { [name]: 7 }, decision: {} }));
    const isBlocked = isBlockedStatus(QueryStatus[name]) && !PERMITTED_THERE.has(name);
    expect([total, blocked]).toEqual([7, isBlocked ? 7 : 0]);
  });

  test('outcomeOf() adds up statuses as Pi-hole clients do', () => {
    const statuses = Object.fromEntries(COMPAT_STATUSES.map((name, at) => [name, 2 ** at]));
    const { total, blocked, forwarded, cached } = outcomeOf(statuses as Parameters<typeof outcomeOf>[0]);
    const sum = (...names: (typeof COMPAT_STATUSES)[number][]): number =>
      names.reduce((all, name) => all + statuses[name]!, 0);
    expect(forwarded).toBe(sum('FORWARDED', 'RETRIED', 'RETRIED_DNSSEC'));
    expect(cached).toBe(sum('CACHE', 'CACHE_STALE'));
    expect(total - blocked - forwarded - cached).toBe(sum('UNKNOWN', 'IN_PROGRESS'));
    expect(total).toBe(2 ** COMPAT_STATUSES.length - 1);
  });

  test('sumStatuses() counts decisions with a rule origin separately, and keeps the sum', () => {
    const status = { BLOCKED_CNAME: 9, LOCAL: 6, CACHED: 1 };
    const decision = { 'BLOCKED_CNAME:managed': 2, 'BLOCKED_CNAME:regex': 3, 'LOCAL:canary': 4 };
    const sums = sumStatuses({ status, decision });
    expect(sums).toMatchObject({
      GRAVITY_CNAME: 4,
      DENYLIST_CNAME: 2,
      REGEX_CNAME: 3,
      SPECIAL_DOMAIN: 4,
      CACHE: 3,
    });
    expect(outcomeOf(sums)).toEqual({ total: 16, blocked: 13, forwarded: 0, cached: 3 });
  });

  test('decisionsOf() has every status of Weir under exactly one status of Pi-hole', () => {
    const all = COMPAT_STATUSES.flatMap((status) => decisionsOf(status)).sort();
    expect(all).toEqual([...BLOCKED_DECISIONS, ...PERMITTED_DECISIONS].sort());
    expect(all).toEqual(expect.arrayContaining([...QUERY_STATUS_NAMES]));
    expect(decisionsOf('CACHE')).toEqual(['CACHED', 'LOCAL', 'SAFE_SEARCH', 'BLOCKED_PTR']);
    expect(decisionsOf('RETRIED')).toEqual([]);
    expect(compatStatus('BLOCKED_LIST')).toBe('GRAVITY');
  });
});

describe("sumTypes() and sumReplies(), which convert Weir's counts to those of Pi-hole,", () => {
  test('sumTypes() counts types that Pi-hole does not know under OTHER, including CNAME', () => {
    const sums = sumTypes({ [RRType.A]: 3, [RRType.HTTPS]: 2, [RRType.CNAME]: 4, 65280: 5 });
    expect(sums).toMatchObject({ A: 3, HTTPS: 2, OTHER: 9, AAAA: 0 });
    expect(Object.keys(sums)).toEqual(COMPAT_TYPES);
  });

  test('sumReplies() counts queries without a counted reply as UNKNOWN', () => {
    const sums = sumReplies({ IP: 5, NODATA: 4, UNKNOWN: 1 }, 12);
    expect(sums).toMatchObject({ IP: 5, NODATA: 4, UNKNOWN: 3, BLOB: 0 });
  });
});
