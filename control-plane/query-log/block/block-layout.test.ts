import { describe, expect, test } from '@jest/globals';
import { QUERY_STATUS_NAMES, QueryStatus, type QueryStatusName } from '../../../shared/query-log.ts';
import { NameClass, nameClassOf } from './block-layout.ts';

describe('nameClassOf()', () => {
  test('separates resolved and blocked queries from all others', () => {
    const namesOf = (nameClass: number): QueryStatusName[] =>
      QUERY_STATUS_NAMES.filter((name) => nameClassOf(QueryStatus[name]) === nameClass);
    expect(namesOf(NameClass.RESOLVED)).toEqual(['ALLOWED', 'CACHED', 'STALE']);
    expect(namesOf(NameClass.BLOCKED).every((name) => name.startsWith('BLOCKED_'))).toBe(true);
    expect(namesOf(NameClass.OTHER)).toEqual([
      ...['LOCAL', 'SAFE_SEARCH', 'RATE_LIMITED', 'REFUSED', 'SERVFAIL', 'TIMEOUT'],
    ]);
  });
});
