/** Tests queries that are excluded from the log, from statistics, or from both, with the writer and all readers. */
import { describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { LogWriters } from '../../../test/support/parts/log-writers.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { logSourceOf, storedRows } from '../../../test/support/parts/stored-log.ts';
import { until } from '../../../test/support/parts/until.ts';
import { Exclusion, QueryStatus } from '../../../shared/query-log.ts';
import { missingRows } from '../../node/system/node-routes.ts';
import { exportQueries } from '../reading/log-export.ts';
import { readQueryLog } from '../reading/query-log-store.ts';
import { readSummary, readTopClients, readTopDomains } from '../statistics/stats-store.ts';
import { readTimeline } from '../statistics/timeline.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import { NameFolding } from '../upkeep/name-folding.ts';
import type { LogWriter } from './log-writer.ts';

const DAY_MS = 86_400_000;
/** A time on the day before yesterday, which has ended in every time zone. */
const FROM_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 2 * DAY_MS + 7 * 3_600_000;
const SPAN = { fromMs: FROM_MS, toMs: FROM_MS + 600_000 };
const NODE = 7;

const suite = new LogWriters();

/** Two blocks of queries, some of which are excluded; `n` identifies the client. */
async function ask(writer: LogWriter): Promise<void> {
  const rows = [
    { name: 'plain.example', client: 1, exclusion: Exclusion.NONE },
    { name: 'hidden.example', client: 2, exclusion: Exclusion.LOG, status: QueryStatus.BLOCKED_LIST },
    { name: 'uncounted.example', client: 3, exclusion: Exclusion.STATS },
    { name: 'nowhere.example', client: 4, exclusion: Exclusion.BOTH },
    { name: 'hidden.example', client: 1, exclusion: Exclusion.LOG },
  ];
  for (let block = 0; block < 2; block++) {
    rows.forEach(({ name, client, exclusion, status = QueryStatus.CACHED }, index) =>
      writer.append(
        logRow({
          timestampMs: FROM_MS + block * 60_000 + index * 1000 + 500,
          client: Uint8Array.of(192, 0, 2, client),
          qname: wireName(name),
          answers: Uint8Array.of(1),
          exclusion,
          status,
          cached: status === QueryStatus.CACHED,
        }),
      ),
    );
    await writer.flush();
  }
}

const domainsOf = (rows: readonly { domain: string }[]): string[] => rows.map(({ domain }) => domain).sort();

async function expectLogAndCounts(): Promise<void> {
  const log = logSourceOf(suite.database);
  const logged = ['plain.example', 'plain.example', 'uncounted.example', 'uncounted.example'];
  expect(domainsOf(await storedRows(suite.database))).toEqual(logged);
  expect(domainsOf((await Array.fromAsync(exportQueries(log, { from: null, to: null }))).flat())).toEqual(
    logged,
  );
  const { data, total } = await readQueryLog(log, { limit: 10, offset: 0, domain: 'hidden' });
  expect([data, total]).toEqual([[], 0]);
  const counted = await readSummary(log, SPAN);
  expect(counted).toMatchObject({
    ...{ queries_total: 6, queries_blocked: 2, clients: 2, unique_domains: 2 },
    ...{ queries_not_logged: 4, queries_not_counted: 2 },
    queries_by_status: { CACHED: 4, BLOCKED_LIST: 2 },
  });
  expect(logged).toHaveLength(
    counted.queries_total - counted.queries_not_logged + counted.queries_not_counted,
  );
  expect(await readTopDomains(log, { ...SPAN, which: 'allowed', limit: 9 })).toEqual([
    { domain: 'hidden.example', count: 2 },
    { domain: 'plain.example', count: 2 },
  ]);
  expect(await readTopDomains(log, { ...SPAN, which: 'blocked', limit: 9 })).toEqual([
    { domain: 'hidden.example', count: 2 },
  ]);
  expect(await readTopClients(log, { ...SPAN, limit: 9 })).toMatchObject([
    { ip: '192.0.2.1', count: 4, blocked: 0 },
    { ip: '192.0.2.2', count: 2, blocked: 2 },
  ]);
  for (const [client, totals] of Object.entries({ '192.0.2.1': [2, 2], '192.0.2.3': [0, 0] })) {
    const period = { ...SPAN, toMs: FROM_MS + 120_000, timezone: 'UTC' };
    const { buckets } = await readTimeline(log, { ...period, granularity: 'minute', client });
    expect(buckets.map(({ total: queries }) => queries)).toEqual(totals);
  }
}

describe('queries of excluded clients', () => {
  test('are only counted, only logged, or neither, as their exclusion requires', async () => {
    const { writer } = suite.open();
    await ask(writer);
    await expectLogAndCounts();
    expect((await missingRows(suite.database)).size).toBe(0);
  });

  test('stay excluded when blocks are merged and added to top lists', async () => {
    const { writer } = suite.open();
    await ask(writer);
    const options = { database: suite.database, logger: new MemoryLogger(), nodeId: NODE };
    await new NameFolding(options).turn('own-and-ended');
    await expectLogAndCounts();
    expect(await new MergeUpkeep(options).turn('own-and-ended')).toBe(3);
    await expectLogAndCounts();
  });

  test('stay excluded on their way through the spool', async () => {
    const { database, come } = suite.away();
    const { writer } = suite.open({ database });
    await ask(writer);
    come();
    await until(
      'the spool to be stored',
      () => writer.counters(),
      ({ written }) => written === 8,
    );
    await expectLogAndCounts();
  });

  test('are stored without answers and with times rounded to minutes if excluded from the log', async () => {
    const { writer } = suite.open();
    await ask(writer);
    const { rows } = await suite.database.query<{ first: string; last: string; bare: boolean }>(
      `SELECT to_char(first_time AT TIME ZONE 'UTC', 'SS.US') AS first, to_char(last_time AT TIME ZONE 'UTC', 'SS.US') AS last,
         answers IS NULL AS bare
       FROM query_blocks WHERE used_by = 's' ORDER BY first_time`,
    );
    const toTheMinute = { first: '00.000000', last: '00.000000', bare: true };
    expect(rows).toEqual([toTheMinute, toTheMinute]);
  });
});
