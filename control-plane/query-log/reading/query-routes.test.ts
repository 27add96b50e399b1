import type { Request, Response } from 'express';
import { describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { SteeredClock } from '../../../test/support/parts/running-api.ts';
import { MAX_OFFSET } from '../../../shared/api/query-log-api.ts';
import { BLOCKED_STATUS_NAMES } from '../../../shared/query-log.ts';
import type { QueryLogFilter } from './query-log-reader.ts';
import { queryRoutes } from './query-routes.ts';

const clock = new SteeredClock();
const EMPTY = {
  data: [],
  total: 0,
  limit: 100,
  offset: 0,
  next_cursor: null,
  prev_cursor: null,
  damaged_blocks: 0,
  total_queries: 0,
};

/** The filter that the API passes on for a query string. */
async function partOf(query: string): Promise<QueryLogFilter> {
  let part: QueryLogFilter | undefined;
  const page = (filter: QueryLogFilter) => {
    part = filter;
    return Promise.resolve(EMPTY);
  };
  const clients = {
    placesOf: (id: number) => (id === 7 ? ['192.0.2.7', '2001:db8::7'] : undefined),
    idsOf: () => [7, 8],
  };
  const [listQueries] = queryRoutes({ clock, clients, queryLog: { page, row: async () => null } });
  const http = { url: `/api/queries?${query}`, params: {} } as unknown as Request;
  expect(await listQueries!.run(http, new EventEmitter() as unknown as Response, null)).toBe(EMPTY);
  return part!;
}

describe('GET /queries', () => {
  test('reads the whole log if no time is given, and applies filters', async () => {
    const part = await partOf('domain=ads&limit=7');
    expect(part).toMatchObject({ domain: 'ads', limit: 7, offset: 0, from: null, to: null });
    expect(part).not.toHaveProperty('period');
  });

  test('refuses a very high offset, and explains how to continue', async () => {
    expect(await partOf(`offset=${MAX_OFFSET}`)).toMatchObject({ offset: MAX_OFFSET });
    const fields = [
      { path: 'offset', message: expect.stringMatching(/at most 100000.*cursor.*from and to/) },
    ];
    await expect(partOf(`offset=${MAX_OFFSET + 1}`)).rejects.toMatchObject({ status: 400, fields });
  });

  test('reads a period that ends now', async () => {
    const { from, to } = await partOf('period=1h');
    expect([from?.getTime(), to]).toEqual([clock.nowMs() - 3_600_000, null]);
  });

  test('accepts a start time and an end time', async () => {
    const { from, to } = await partOf('from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:01Z');
    expect([from, to]).toEqual([new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:00:01Z')]);
  });

  test.each([
    ['domain!=ads', { not: { domain: 'ads' } }],
    ['client!=192.0.2.0/24', { not: { client: '192.0.2.0/24' } }],
    ['client_id=7', { device: { ids: [7, 8], addresses: ['192.0.2.7', '2001:db8::7'] } }],
    ['client_id!=7', { not: { device: { ids: [7, 8], addresses: ['192.0.2.7', '2001:db8::7'] } } }],
    ['group_id!=7', { not: { group_id: 7 } }],
    ['type!=AAAA', { not: { type: 'AAAA' } }],
    ['status!=CACHED', { not: { status: 'CACHED' } }],
    ['status!=BLOCKED', { not: { statuses: BLOCKED_STATUS_NAMES } }],
    ['status=BLOCKED', { statuses: BLOCKED_STATUS_NAMES }],
    ['rcode!=NXDOMAIN', { not: { rcode: 'NXDOMAIN' } }],
    ['rcode=NODATA', { reply: 'NODATA' }],
    ['rcode!=nodata', { not: { reply: 'NODATA' } }],
    ['protocol!=doh', { not: { protocol: 'doh' } }],
    ['upstream!=udp://192.0.2.1:53', { not: { upstream: 'udp://192.0.2.1:53' } }],
    ['dnssec!=secure', { not: { dnssec: 'secure' } }],
    ['block_source=You%20Tube', { block_source: 'You Tube' }],
    ['block_source!=Ads', { not: { block_source: 'Ads' } }],
    ['node!=alpha', { notNode: 'alpha' }],
    ['status%21=CACHED&status=STALE', { status: 'STALE', not: { status: 'CACHED' } }],
  ])('excludes rows by %s', async (query, expected) => {
    const { limit, offset, from, to, ...conditions } = await partOf(query);
    expect([limit, offset, from, to]).toEqual([100, 0, null, null]);
    expect(conditions).toEqual(expected);
  });

  test.each([
    'status!=NONE',
    'client!=here',
    'type!=X',
    'group_id!=0',
    'client_id!=8',
    'domain!=',
    'block_source!=',
    'limit!=5',
  ])('refuses ?%s, and names the parameter', async (query) => {
    const path = query.slice(0, query.indexOf('!') + 1);
    await expect(partOf(query)).rejects.toMatchObject({ status: 400, fields: [{ path }] });
  });

  test.each([
    ['period', 'period=1h&from=2026-01-01T00:00:00Z', 'expected either period or from, not both'],
    ['to', 'from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'expected a time after from'],
    ['to', 'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'expected a time after from'],
  ])('refuses the parameter %s in ?%s', async (path, query, message) => {
    await expect(partOf(query)).rejects.toMatchObject({ status: 400, fields: [{ path, message }] });
  });
});
