import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { PROTOCOL_NAMES } from '../query-log.ts';
import { LoggedQuery, QueryLogExport, QueryLogFilters, QueryLogQuery } from './query-log-api.ts';

const BAD: Readonly<Record<string, string>> = {
  domain: '',
  client: 'localhost',
  client_id: '0',
  group_id: '0',
  type: 'A OR',
  status: 'STOPPED',
  rcode: 'NOSUCH',
  protocol: 'quic',
  upstream: '',
  dnssec: 'maybe',
  block_source: '',
  node: '\u0000',
};

describe('QueryLogFilters', () => {
  test('has a negated form (name!) of each filter, and of no other parameter', () => {
    const opposites = Object.keys(QueryLogFilters.shape).filter((name) => name.endsWith('!'));
    expect(opposites).toEqual(Object.keys(BAD).map((name) => `${name}!`));
  });

  test.each(Object.entries(BAD))('rejects %s=%j, and the same value of the negated filter', (name, value) => {
    for (const key of [name, `${name}!`]) {
      const { success, error } = QueryLogFilters.safeParse({ [key]: value });
      expect([key, success, error?.issues[0]?.path]).toEqual([key, false, [key]]);
    }
  });
});

describe('a filter with a fixed set of values', () => {
  test.each([
    ['status', 'blocked_list', 'BLOCKED_LIST'],
    ['status', 'Blocked', 'BLOCKED'],
    ['protocol', 'UDP', 'udp'],
    ['dnssec', 'Secure', 'secure'],
  ])('%s=%s is read as %s', (name, given, value) => {
    for (const key of [name, `${name}!`])
      expect(QueryLogFilters.parse({ [key]: given })).toEqual({ [key]: value });
  });

  test('is an enum in the JSON schema', () => {
    const { properties } = z.toJSONSchema(QueryLogExport, { io: 'input' });
    expect(properties?.['protocol']).toMatchObject({ type: 'string', enum: [...PROTOCOL_NAMES] });
    expect(properties?.['format']).toMatchObject({ enum: ['csv', 'ndjson', 'parquet'] });
    expect(QueryLogExport.parse({ format: 'NDJSON' }).format).toBe('ndjson');
  });
});

describe('QueryLogQuery and QueryLogExport', () => {
  test('accept the same filters, and only QueryLogQuery has page parameters', () => {
    const filters = Object.keys(QueryLogFilters.shape).sort();
    expect(Object.keys(QueryLogQuery.shape).sort()).toEqual([...filters, 'cursor', 'limit', 'offset'].sort());
    expect(Object.keys(QueryLogExport.shape).sort()).toEqual([...filters, 'format'].sort());
  });
});

describe('LoggedQuery', () => {
  test('accepts IDs beyond 2^32, because they include the ID of the run', () => {
    expect(LoggedQuery.shape.id.safeParse(2 ** 40).success).toBe(true);
    expect(LoggedQuery.shape.id.safeParse(0).success).toBe(false);
  });
});
