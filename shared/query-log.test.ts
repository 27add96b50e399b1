import { describe, expect, test } from '@jest/globals';
import { MAX_NAME_LENGTH } from './dns/name.ts';
import {
  BLOCKED_STATUSES,
  DNSSEC_STATUS_NAMES,
  LogRecord,
  LogRing,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
  QueryStatus,
  isBlockedStatus,
  logAnswersOffset,
  logRingBytes,
} from './query-log.ts';

describe('QUERY_STATUS_NAMES, the stored statuses,', () => {
  test('have each status at its stored number', () => {
    // Rows of the database contain these numbers, so new statuses may only be appended.
    expect(QUERY_STATUS_NAMES.slice(0, 18)).toEqual([
      'ALLOWED',
      'CACHED',
      'STALE',
      'LOCAL',
      'BLOCKED_LIST',
      'BLOCKED_MANAGED',
      'BLOCKED_REGEX',
      'BLOCKED_CNAME',
      'BLOCKED_SERVICE',
      'BLOCKED_SCHEDULE',
      'BLOCKED_REBIND',
      'SAFE_SEARCH',
      'RATE_LIMITED',
      'REFUSED',
      'SERVFAIL',
      'TIMEOUT',
      'BLOCKED_PTR',
      'BLOCKED_NON_FQDN',
    ]);
    expect(QUERY_STATUS_NAMES.map((name) => QueryStatus[name])).toEqual([...QUERY_STATUS_NAMES.keys()]);
  });
});

describe('PROTOCOL_NAMES and DNSSEC_STATUS_NAMES', () => {
  test('have each name at its stored number', () => {
    expect(PROTOCOL_NAMES).toEqual(['udp', 'tcp', 'dot', 'doh']);
    expect(DNSSEC_STATUS_NAMES).toEqual(['unchecked', 'secure', 'insecure', 'bogus', 'indeterminate']);
  });
});

describe('isBlockedStatus(), whether a status is a block,', () => {
  test('is true for the statuses with a name that starts with BLOCKED, and for no other number', () => {
    const named = QUERY_STATUS_NAMES.filter((name) => name.startsWith('BLOCKED_'));
    const blocked = Array.from({ length: 32 }, (_, code) => code).filter(isBlockedStatus);
    expect(blocked).toEqual(named.map((name) => QueryStatus[name]).sort((a, b) => a - b));
    expect([...BLOCKED_STATUSES].sort((a, b) => a - b)).toEqual(blocked);
  });
});

describe('logAnswersOffset(), the position of the answers in a log record,', () => {
  test.each([
    [1, 68],
    [4, 68],
    [5, 72],
  ])('is after the name of %d bytes, at the word boundary %d', (length, offset) =>
    expect(logAnswersOffset(length)).toBe(offset),
  );

  test('is within the record for the longest name', () => {
    expect(logAnswersOffset(MAX_NAME_LENGTH)).toBeLessThanOrEqual(LogRecord.SIZE);
  });
});

describe('logRingBytes(), the size of a log ring,', () => {
  test('is the size of the header and the records', () => {
    expect(logRingBytes(0)).toBe(LogRing.RECORDS_BYTE);
    expect(logRingBytes(64) - logRingBytes(63)).toBe(LogRecord.SIZE);
  });
});

describe('LogRecord, the layout of a log row in memory,', () => {
  test('gives each field separate bytes', () => {
    const sizes = { TIMESTAMP_MS: 8, RESPONSE_TIME_US: 4, SNAPSHOT_VERSION: 4, CLIENT: 16, GROUP_ID: 4 };
    const words = { RULE_ATTRIBUTE: 4, QTYPE: 2, UPSTREAM: 2, ANSWERS_LENGTH: 2, ANSWER_TYPE: 2 };
    const sized: Readonly<Record<string, number>> = { ...sizes, ...words };
    const taken = Object.entries(LogRecord)
      .filter(([field]) => field !== 'SIZE' && field !== 'QNAME')
      .flatMap(([field, at]) => Array.from({ length: sized[field] ?? 1 }, (_, byte) => at + byte));
    expect(new Set(taken).size).toBe(taken.length);
    expect(Math.max(...taken)).toBeLessThan(LogRecord.QNAME);
  });
});
