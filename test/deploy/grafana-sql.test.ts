/**
 * The dashboard over the views of the database: every query of every panel runs with the role from docs/monitoring.md.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { asOwner } from '../support/parts/as-owner.ts';
import { logRow, wireName } from '../support/parts/log-row.ts';
import { storeRows } from '../support/parts/stored-log.ts';
import { startTestDatabase, type TestDatabase } from '../support/parts/test-database.ts';
import { QueryStatus } from '../../shared/query-log.ts';

interface Target {
  readonly rawSql: string;
  readonly format: 'table' | 'time_series';
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const read = (file: string): string => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
const dashboard = JSON.parse(read('grafana/weir-sql.json')) as Dashboard;
const targets = dashboard.panels.flatMap(({ title, targets: [target] }) => [[title, target!] as const]);

const FROM = '2026-01-10T00:00:00Z';
const TO = '2026-01-20T00:00:00Z';
const NOON_MS = Date.UTC(2026, 0, 15, 12);
const SECS: Readonly<Record<string, number>> = { $__interval: 900, '1d': 86_400 };

/** SQL that Grafana sends for a query: with its macros and its variable for nodes replaced. */
function expanded(sql: string, nodes: readonly string[]): string {
  return sql
    .replaceAll(/\$__timeFilter\((\w+)\)/g, (_, column: string) => `${column} BETWEEN '${FROM}' AND '${TO}'`)
    .replaceAll(/\$__timeGroupAlias\((\w+), ([^)]+)\)/g, (_, column: string, interval: string) => {
      const secs = String(SECS[interval]!);
      return `floor(extract(epoch from ${column})/${secs})*${secs} AS "time"`;
    })
    .replaceAll('$node', nodes.map((node) => `'${node}'`).join(','));
}

describe('weir-sql.json, the Grafana dashboard for PostgreSQL,', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await startTestDatabase();
    const rows = Array.from({ length: 100 }, (_, i) =>
      logRow({
        timestampMs: NOON_MS + i * 60_000,
        qname: wireName(`host-${String(i)}.example.org`),
        status: i % 4 === 0 ? QueryStatus.BLOCKED_LIST : QueryStatus.ALLOWED,
        blockSource: i % 4 === 0 ? 'a list' : null,
        upstream: i % 4 === 0 ? null : 'udp://192.0.2.53',
        cached: false,
        responseTimeUs: 100,
      }),
    );
    await storeRows(database.database, rows);
    await database.database.query("INSERT INTO nodes (id, name) VALUES (1, 'alpha') ON CONFLICT DO NOTHING");
    const [grants] = /CREATE ROLE weir_grafana[^`]+/.exec(read('../docs/monitoring.md')) ?? [];
    await asOwner(database.database, grants!);
  });

  afterAll(() => database.stop());

  /** Runs a query as Grafana's role. */
  function ask<Row extends object>(sql: string): Promise<Row[]> {
    return database.database.transactionAsOwner(async (tx) => {
      await tx.query('SET LOCAL ROLE weir_grafana');
      return (await tx.query<Row & Record<string, unknown>>(sql)).rows;
    });
  }

  async function run(sql: string): Promise<Record<string, unknown>[]> {
    const names = await ask<{ name: string }>(dashboard.templating.list[1]!.query);
    return ask<Record<string, unknown>>(
      expanded(
        sql,
        names.map(({ name }) => name),
      ),
    );
  }

  test.each(targets)('panel %s returns data', async (_title, { rawSql, format }) => {
    const rows = await run(rawSql);
    expect(rows.length).toBeGreaterThan(0);
    const columns = Object.keys(rows[0]!);
    if (format === 'time_series') expect(columns[0]).toBe('time');
    for (const row of rows) expect(Object.values(row)).not.toContain(null);
    expect(rawSql).not.toMatch(/\bquery_(counts|blocks|runs)\b/);
  });

  test.each([
    ['Queries', '100'],
    ['Blocked', '25'],
    ['Blocked share', 0.25],
    ['Forwarded', 0.75],
    ['Mean response time', 100],
  ])('panel %s distinguishes the value %s', async (title, value) => {
    const [, target] = targets.find(([name]) => name === title)!;
    expect(Object.values((await run(target.rawSql))[0]!)).toEqual([value]);
  });

  test('uses a database role that can read only the views and the names of the nodes', async () => {
    for (const table of ['query_blocks', 'query_counts', 'sessions', 'meta'])
      await expect(ask(`SELECT * FROM ${table}`)).rejects.toThrow(/permission denied/);
  });
});
