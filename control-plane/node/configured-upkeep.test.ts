/**
 * Configuration keys of the periodic work of a node. Their effect is visible in its database, in its directory, and at
 * the servers to which it sends requests.
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../shared/policy/changes/change-codes.ts';
import { readdirSync, rmSync } from 'node:fs';
import { logRow } from '../../test/support/parts/log-row.ts';
import { storeRows } from '../../test/support/parts/stored-log.ts';
import { makeTempDir, startTestDatabase } from '../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../test/support/parts/test-database.ts';
import { testNode } from '../../test/support/parts/test-node.ts';
import { until } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { startListServer } from '../../test/support/weir/list-server.ts';
import type { ListServer } from '../../test/support/weir/list-server.ts';
import { recordAudit } from '../policy/audit/audit-store.ts';
import type { Node } from './node.ts';
import { DAY_MS } from '../query-log/store/block-gatherer.ts';
import { listPartitions } from '../query-log/store/partition-store.ts';
import { dayInDatabase } from '../query-log/upkeep/log-days.ts';
import { startDns } from './start-dns.ts';
import { type PolicyContext, startHousekeeping, startPolicy } from './start-policy.ts';
import { startWeb } from './start-web.ts';
import { stopInReverse } from './stopping.ts';

const ADMIN = { name: 'tester', address: null };
const HOUR_MS = 3_600_000;
/** Ages in days for which the log has rows. */
const AGES = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

let own: TestDatabase;
let lists: ListServer;
let node: Node;
let context: PolicyContext;
let today: number;
/** Runs the hourly work, as its timers do. */
let everyHour: () => void;
const exportDir = makeTempDir();
const WAIT = { withinMs: 30_000 };

beforeAll(async () => {
  own = await startTestDatabase();
  // Prevents the first start from adding a list on the internet.
  await own.database.query(`INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true')`);
  today = await dayInDatabase(own.database);
  const rows = AGES.map((age) => logRow({ timestampMs: (today - age) * DAY_MS }));
  await storeRows(own.database, rows);
  lists = await startListServer();
  lists.serve('/list.txt', 'listed.example.net\n');
  const service = { id: 'made', name: 'Made', category: 'telemetry', domains: ['made.example'] };
  lists.serve('/catalog.json', JSON.stringify({ schema: 1, services: [service] }));
  const toml = `database = { query_log_days = 4, rollup_days = 7, audit_days = 2, export_dir = "${exportDir}" }
blocking.list_refresh_hours = 2
blocking.catalog_refresh_hours = 2
blocking.catalog_url = "${lists.url('/catalog.json')}"`;
  const dnsPort = await freePort(['127.0.0.1']);
  node = testNode(own.database, own.dataDir, toml, dnsPort);
  const intervals = jest.spyOn(globalThis, 'setInterval');
  const dns = await startDns(node);
  await dns.startThreads();
  context = await startPolicy(dns);
  await startWeb(context);
  const hourly = intervals.mock.calls.flatMap(([work, ms]) => (ms === HOUR_MS ? [work as () => void] : []));
  intervals.mockRestore();
  everyHour = () => hourly.forEach((work) => work());
});
afterAll(async () => {
  await stopInReverse(node.stops, node.logger);
  await lists.close();
  await own.stop();
  rmSync(exportDir, { recursive: true, force: true });
});

/** Expected number of fetches by the age of the last fetch in hours, if a fetch is due after two hours. */
const AFTER_TWO_HOURS = { 0: 1, 1: 1, 3: 2 };

/** Number of fetches of a path after setting the last fetch to 0, 1 and 3 hours ago. */
async function fetchesByAge(table: string, path: string, check: () => Promise<void>): Promise<object> {
  const counts: Record<number, number> = {};
  for (const ageHours of [0, 1, 3]) {
    const sql = `UPDATE ${table} SET last_checked_at = now() - $1 * interval '1 hour' WHERE last_checked_at IS NOT NULL`;
    await own.database.query(sql, [ageHours]);
    await check();
    counts[ageHours] = lists.requests.filter(({ url }) => url === path).length;
  }
  return counts;
}

describe('a configuration key of periodic work', () => {
  test('database.export_dir sets the directory to which days of the query log are exported', async () => {
    await context.dayExport.turn(new AbortController().signal);
    const day = new Date((today - 2) * DAY_MS).toISOString().slice(0, 10);
    expect(readdirSync(exportDir)).toContain(`weir-queries-${day}.parquet`);
  });

  test('blocking.list_refresh_hours sets when a list is fetched again', async () => {
    const source = { name: 'a list', enabled: true, comment: '', group_ids: [], subdomains: false };
    await context.sources.create('block', { ...source, url: lists.url('/list.txt') }, ADMIN);
    const check = async (): Promise<void> => {
      await context.sources.refreshDue();
      await context.sources.idle();
    };
    expect(await fetchesByAge('list_sources', '/list.txt', check)).toEqual(AFTER_TWO_HOURS);
  });

  test('blocking.catalog_refresh_hours sets when the service catalog is fetched again', async () => {
    const check = (): Promise<void> => context.catalogRefresh.check();
    expect(await fetchesByAge('service_catalog', '/catalog.json', check)).toEqual(AFTER_TWO_HOURS);
  });

  test('database.audit_days sets how long entries of the audit log are kept', async () => {
    const entry = { actor: ADMIN, action: codedAction('changed'), before: null, after: null };
    for (const age of [1, 3]) {
      const subject = codedSubject('group', { name: `${age} days old` });
      await own.database.transaction((tx) => recordAudit(tx, { ...entry, subject }));
      await own.database.query(
        `UPDATE audit_log SET created_at = now() - $1 * interval '1 day' WHERE subject = $2`,
        [age, `group ${age} days old`],
      );
    }
    // Advances the clocks, because a clock is only trusted if it was not set for six hours.
    const aheadMs = 7 * HOUR_MS;
    const [nowMs, sinceStartMs] = [Date.now(), performance.now()];
    const clocks = [
      jest.spyOn(Date, 'now').mockReturnValue(nowMs + aheadMs),
      jest.spyOn(performance, 'now').mockReturnValue(sinceStartMs + aheadMs),
    ];
    everyHour();
    for (const clock of clocks) clock.mockRestore();
    const subjects = async (): Promise<string[]> => {
      const { rows } = await own.database.query<{ subject: string }>(
        `SELECT subject FROM audit_log WHERE subject LIKE '% days old'`,
      );
      return rows.map(({ subject }) => subject);
    };
    expect(await until('the sweep of the audit log', subjects, ({ length }) => length < 2, WAIT)).toEqual([
      'group 1 days old',
    ]);
  });

  test('database.query_log_days sets how long the query log is kept', async () => {
    startHousekeeping(context, () => undefined);
    const oldest = async (): Promise<number> => {
      const days = await listPartitions(own.database);
      return (await dayInDatabase(own.database)) - Math.min(...days);
    };
    expect(await until('days of the query log to be dropped', oldest, (age) => age < 4, WAIT)).toBe(3);
  });

  test('database.rollup_days sets how long the counts of the statistics are kept', async () => {
    const oldest = async (): Promise<number> => {
      const { rows } = await own.database.query<{ start: Date }>(
        `SELECT min(start) AS start FROM query_counts WHERE grain = 'd'`,
      );
      // Uses the day of an hour ago, because counts of a day are kept for an hour longer.
      return (await dayInDatabase(own.database, HOUR_MS)) - rows[0]!.start.getTime() / DAY_MS;
    };
    expect(await until('counts to be dropped', oldest, (age) => age < 7, WAIT)).toBe(6);
  });
});
