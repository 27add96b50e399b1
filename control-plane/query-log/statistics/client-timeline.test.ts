/** Compares the timelines of clients with the timeline of all queries. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import { logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { ClientTimeline, GRANULARITIES, Timeline } from '../../../shared/api/stats-api.ts';
import { readClientTimeline } from './client-timeline.ts';
import { readTimeline } from './timeline.ts';

const ZONES = ['UTC', 'Europe/Vienna', 'Asia/Kathmandu', 'Australia/Lord_Howe'];

let suite: SuiteDatabase;
let api: RunningApi;

/** A query every seven minutes: half of them by one client, a quarter by another, and the rest by ten. */
beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
  const rows = Array.from({ length: 400 }, (_, i) => {
    const host = i % 2 === 0 ? 1 : i % 4 === 1 ? 2 : 10 + ((i >> 2) % 10);
    return logRow({
      timestampMs: api.clock.nowMs() - i * 7 * 60_000,
      client: Uint8Array.of(192, 0, 2, host),
    });
  });
  await storeRows(suite.database, rows);
  const json = { ip_address: '192.0.2.1', name: 'Phone' };
  expect((await api.send('POST', '/api/clients', { json })).status).toBe(201);
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

describe('GET /stats/client_timeline', () => {
  test('returns the busiest clients with their names, and adds up to the timeline bucket by bucket', async () => {
    const query = 'period=24h&granularity=hour&timezone=Europe/Vienna';
    const { body } = await api.send('GET', `/api/stats/client_timeline?limit=2&${query}`);
    const { clients, buckets } = ClientTimeline.parse(body);
    expect(clients.map(({ ip_address: ip, hostname }) => [ip, hostname])).toEqual([
      ['192.0.2.1', 'Phone'],
      ['192.0.2.2', null],
    ]);
    expect(clients.map(({ total }) => total)).toEqual(
      clients.map((_, place) => sum(buckets.map(({ counts }) => counts[place]!))),
    );
    expect(buckets.some(({ others }) => others > 0)).toBe(true);
    const all = await api.send('GET', `/api/queries/timeline?${query}`);
    expect(buckets.map(({ timestamp, counts, others }) => [timestamp, sum(counts) + others])).toEqual(
      Timeline.parse(all.body).buckets.map(({ timestamp, total }) => [timestamp, total]),
    );
  });

  test.each(['limit=0', 'limit=21', 'timezone=Mars', 'granularity=year', 'client=192.0.2.1'])(
    'refuses %s with 400',
    async (query) => {
      const { status, problem } = await api.send('GET', `/api/stats/client_timeline?${query}`);
      expect([status, problem.errors!.map(({ path }) => path)]).toEqual([400, [query.split('=')[0]]]);
    },
  );
});

describe('readClientTimeline()', () => {
  test.each(ZONES)('adds up to the timeline in %s, wherever the period begins and ends', async (timezone) => {
    const log = logSourceOf(suite.database);
    const endMs = Math.floor(api.clock.nowMs() / 60_000) * 60_000;
    for (const [fromMin, toMin] of [
      [2807, 3],
      [1501, 1500],
      [301, 62],
    ] as const) {
      const span = { fromMs: endMs - fromMin * 60_000, toMs: endMs - toMin * 60_000 };
      for (const granularity of GRANULARITIES) {
        const request = { ...span, granularity, timezone };
        const { startsMs, clients, others } = await readClientTimeline(log, { ...request, limit: 3 });
        const { buckets } = await readTimeline(log, request);
        expect(
          startsMs.map((_, place) => sum(clients.map(({ counts }) => counts[place]!)) + others[place]!),
        ).toEqual(buckets.map(({ total }) => total));
      }
    }
  });
});
