/** Compares the statistics of one of several nodes with the rows that this node stored. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LogSource } from '../reading/log-source.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { logRow, type RowInWords, wireName } from '../../../test/support/parts/log-row.ts';
import { logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { readDashboard } from './dashboard-store.ts';
import { readSummary, readTopClients, readTopDomains } from './stats-store.ts';
import { readTimeline } from './timeline.ts';

const FROM_MS = Date.UTC(2026, 6, 5, 12);
const SPAN = { fromMs: FROM_MS, toMs: FROM_MS + 2 * 3_600_000 };
const BY_MINUTE = { ...SPAN, granularity: 'minute', timezone: 'UTC' } as const;
const NODES = { attic: 1, cellar: 2 } as const;
const NAMES = Object.keys(NODES) as (keyof typeof NODES)[];

let own: TestDatabase;
let log: LogSource;

beforeAll(async () => {
  own = await startTestDatabase();
  log = logSourceOf(own.database);
  for (const name of NAMES) {
    await own.database.query('INSERT INTO nodes (id, name) VALUES ($1, $2)', [NODES[name], name]);
    await storeRows(own.database, rowsOf(name).map(logRow), NODES[name]);
  }
});
afterAll(() => own.stop());

/** Rows of a node: some names and clients occur on both nodes, others only on one. */
function rowsOf(node: keyof typeof NODES) {
  const count = node === 'attic' ? 90 : 40;
  return Array.from({ length: count }, (_, i) => {
    const isBlocked = i % 4 === 0;
    return {
      timestampMs: FROM_MS + i * 60_000,
      qname: wireName(i % 3 === 0 ? `${node}.example` : `host${String(i % 7)}.example`),
      client: Uint8Array.of(192, 0, 2, i % (node === 'attic' ? 5 : 3)),
      groupId: 7,
      cached: !isBlocked,
      status: isBlocked ? QueryStatus.BLOCKED_LIST : QueryStatus.CACHED,
    } satisfies Partial<RowInWords>;
  });
}

type Row = ReturnType<typeof rowsOf>[number];

function distinct(rows: readonly Row[], of: (row: Row) => Uint8Array): number {
  return new Set(rows.map((row) => Buffer.from(of(row)).toString('hex'))).size;
}

function figuresOf(rows: readonly Row[]) {
  return {
    queries_total: rows.length,
    queries_blocked: rows.filter(({ status }) => status === QueryStatus.BLOCKED_LIST).length,
    clients: distinct(rows, ({ client }) => client),
    unique_domains: distinct(rows, ({ qname }) => qname),
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('the statistics of a node', () => {
  // Sums of all nodes are cached between requests. They must never appear in the sums of one node, whatever the order
  // of requests is.
  test.each([
    ['attic', rowsOf('attic')],
    [undefined, [...rowsOf('attic'), ...rowsOf('cellar')]],
    ['cellar', rowsOf('cellar')],
    [undefined, [...rowsOf('attic'), ...rowsOf('cellar')]],
    ['gone', []],
  ] as const)('for the node %s count its queries, clients and names in every view', async (node, rows) => {
    const figures = figuresOf(rows);
    const allowed = figures.queries_total - figures.queries_blocked;
    expect(await readSummary(log, { ...SPAN, node })).toMatchObject(figures);
    const sound: LogSource = { ...log, onDamaged: () => expect('damaged').toBe('never') };
    const dashboard = await readDashboard(log, { ...BY_MINUTE, node });
    expect(dashboard.summary).toMatchObject(figures);
    expect(sum(dashboard.timeline.buckets.map(({ total }) => total))).toBe(rows.length);
    expect(sum(dashboard.topClients.map(({ count }) => count))).toBe(rows.length);
    // All rows belong to one group, so a filter by this group, for which blocks are read instead of counts, must give
    // the same result.
    for (const group_id of [undefined, 7]) {
      const which = { ...SPAN, node, group_id };
      expect(await readTimeline(sound, { ...BY_MINUTE, ...which })).toEqual(dashboard.timeline);
      const clients = await readTopClients(log, { ...which, limit: 100 });
      expect(clients.length).toBe(figures.clients);
      expect(sum(clients.map(({ count }) => count))).toBe(rows.length);
      const asked = await readTopDomains(log, { ...which, limit: 100, which: 'allowed' });
      const blocked = await readTopDomains(log, { ...which, limit: 100, which: 'blocked' });
      expect([asked, blocked].map((names) => sum(names.map(({ count }) => count)))).toEqual([
        allowed,
        figures.queries_blocked,
      ]);
    }
  });
});
