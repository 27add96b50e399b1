import { describe, expect, test } from '@jest/globals';
import { COMPAT_STATUSES, COMPAT_TYPES } from '../../../shared/api/compat/compat-api.ts';
import { isBlockedStatus, QUERY_STATUS_NAMES, QueryStatus } from '../../../shared/query-log.ts';
import {
  compatStatus,
  outcomeOf,
  replyOfRcode,
  statusesOf,
  sumReplies,
  sumStatuses,
  sumTypes,
} from './query-kinds.ts';

describe('compatStatus() and outcomeOf()', () => {
  test.each(QUERY_STATUS_NAMES)('%s counts as blocked here exactly if it does in Weir', (name) => {
    const { total, blocked } = outcomeOf(sumStatuses({ [name]: 7 }));
    expect([total, blocked]).toEqual([7, isBlockedStatus(QueryStatus[name]) ? 7 : 0]);
  });

  test('outcomeOf() adds up statuses as clients do', () => {
    const statuses = Object.fromEntries(COMPAT_STATUSES.map((name, at) => [name, 2 ** at]));
    const { total, blocked, forwarded, cached } = outcomeOf(statuses as Parameters<typeof outcomeOf>[0]);
    const sum = (...names: (typeof COMPAT_STATUSES)[number][]): number =>
      names.reduce((all, name) => all + statuses[name]!, 0);
    expect(forwarded).toBe(sum('FORWARDED', 'RETRIED', 'RETRIED_DNSSEC'));
    expect(cached).toBe(sum('CACHE', 'CACHE_STALE'));
    expect(total - blocked - forwarded - cached).toBe(sum('UNKNOWN', 'IN_PROGRESS'));
    expect(total).toBe(2 ** COMPAT_STATUSES.length - 1);
  });

  test('statusesOf() finds every status under its counterpart', () => {
    expect(COMPAT_STATUSES.flatMap(statusesOf).sort()).toEqual([...QUERY_STATUS_NAMES].sort());
    expect(statusesOf('CACHE')).toEqual(['CACHED', 'LOCAL', 'SAFE_SEARCH']);
    expect(statusesOf('RETRIED')).toEqual([]);
    expect(compatStatus('BLOCKED_LIST')).toBe('GRAVITY');
  });
});

describe('sumTypes() and sumReplies()', () => {
  test('sumTypes() puts what has no name of its own under OTHER, CNAME too', () => {
    const sums = sumTypes({ A: 3, HTTPS: 2, CNAME: 4, TYPE65280: 5, OTHER: 1 });
    expect(sums).toMatchObject({ A: 3, HTTPS: 2, OTHER: 10, AAAA: 0 });
    expect(Object.keys(sums)).toEqual(COMPAT_TYPES);
  });

  test('sumReplies() counts rcodes, and UNKNOWN for answers that may hold anything', () => {
    const sums = sumReplies({ NOERROR: 5, NXDOMAIN: 4, SERVFAIL: 3, REFUSED: 2, NOTIMP: 1, FORMERR: 6 });
    expect(sums).toMatchObject({
      UNKNOWN: 5,
      NXDOMAIN: 4,
      SERVFAIL: 3,
      REFUSED: 2,
      NOTIMP: 1,
      OTHER: 6,
      IP: 0,
    });
    expect(replyOfRcode('__proto__')).toBe('OTHER');
  });
});
