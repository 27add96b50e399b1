import type { Response } from 'express';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import type { Rows, RunningApi, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { logSourceOf, questionsOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import type { LogSource } from './log-source.ts';
import { queryExportRoutes } from './query-export-routes.ts';

let suite: SuiteDatabase;
let api: RunningApi;
/**
 * Exports that have begun: the response, a promise for its end, and the maximum number of bytes that waited to be sent.
 */
let begun: { readonly response: Response; readonly ended: Promise<unknown>; maxBytes: number }[] = [];
let reads = 0;

const rows: Rows = (parts) => {
  const log = logSourceOf(parts.database);
  const counting: LogSource = {
    ...log,
    read: (work) => {
      reads++;
      return log.read(work);
    },
  };
  const queryLog = questionsOf(parts.database, undefined, counting);
  return queryExportRoutes({ ...parts, queryLog }).map((row) => ({
    ...row,
    run: (http, response, caller) => {
      const write = response.write.bind(response) as (text: string) => boolean;
      response.write = (text: string) => {
        const isTaken = write(text);
        entry.maxBytes = Math.max(entry.maxBytes, response.writableLength);
        return isTaken;
      };
      const ended = row.run(http, response, caller);
      const entry = { response, ended, maxBytes: 0 };
      begun.push(entry);
      return ended;
    },
  }));
};

serveSuite(rows, (served) => ({ suite, api } = served));
beforeEach(() => {
  begun = [];
  reads = 0;
});

function exportOf(query = ''): Promise<TestAnswer> {
  return api.send('GET', `/api/queries/export?${query}`);
}

/** Stores rows from the current time backwards, each a moment earlier than the previous one. */
async function store(count: number): Promise<void> {
  const max = 10_000;
  for (let from = 0; from < count; from += max) {
    const rows = Array.from({ length: Math.min(count - from, max) }, (_, place) => {
      const i = from + place;
      return logRow({
        timestampMs: api.clock.nowMs() - i * 200,
        qname: wireName(`host-${i % 100}.example.org`),
        status: i % 2 === 0 ? QueryStatus.CACHED : QueryStatus.STALE,
        responseTimeUs: i,
      });
    });
    await storeRows(suite.database, rows);
  }
}

/** Requests an export of all rows and reads only its beginning. */
async function beginToRead(): Promise<IncomingMessage> {
  const request = get({ port: api.port, path: '/api/queries/export?format=ndjson', agent: false });
  request.on('error', () => undefined); // An error is expected, because the test closes the connection.
  const [response] = (await within('the head of the export', once(request, 'response'))) as [IncomingMessage];
  response.on('error', () => undefined);
  await within('the first rows of the export', once(response, 'readable'));
  return response;
}

describe('GET /queries/export', () => {
  test('returns CSV by default, with a file name and with the filters of GET /queries', async () => {
    await store(10);
    const answer = await exportOf('status!=CACHED');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toBe(
      'attachment; filename="weir-queries-20260115T120000Z.csv"',
    );
    const [head, ...lines] = answer.text.split('\r\n');
    expect(head).toMatch(/^id,timestamp,/);
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => line.split(',')[13])).toEqual(['1', '3', '5', '7', '9']);
  });

  test('returns lines of JSON if requested', async () => {
    await store(3);
    const answer = await exportOf('format=ndjson&period=1h');
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const shown = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => LoggedQuery.parse(JSON.parse(line)));
    expect(shown.map((row) => row.response_time_us)).toEqual([0, 1, 2]);
  });

  test('returns a Parquet file if requested', async () => {
    await store(3);
    const response = await fetch(`http://127.0.0.1:${api.port}/api/queries/export?format=parquet`);
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    expect(response.headers.get('content-disposition')).toMatch(/weir-queries-\S+\.parquet"$/);
    const rows = await parquetReadObjects({ file: await response.arrayBuffer() });
    expect(rows.map((row) => Number(row['response_time_us']))).toEqual([0, 1, 2]);
  });

  test('returns only the line of column names, or no line, if there are no rows', async () => {
    expect((await exportOf()).text.split('\r\n')).toHaveLength(2);
    expect((await exportOf('format=ndjson')).text).toBe('');
  });

  test.each([
    ['format=xml', 'format'],
    ['limit=5', 'limit'],
    ['cursor=x', 'cursor'],
    ['status!=NONE', 'status!'],
    ['period=1h&from=2026-01-01T00:00:00Z', 'period'],
  ])('refuses %s, and names the parameter', async (query, path) => {
    const answer = await exportOf(query);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });

  test('responds to HEAD without reading the log', async () => {
    const answer = await api.send('HEAD', '/api/queries/export');
    expect([answer.status, answer.text, reads]).toEqual([200, '', 0]);
    expect(answer.headers['content-disposition']).toMatch(/^attachment/);
  });

  test('waits for a slow client while it serves others, and ends when the client disconnects', async () => {
    await store(100_000);
    const response = await beginToRead();
    const [{ response: answer, ended }] = begun as [(typeof begun)[number]];
    await until('the export to wait for its client', () => answer.writableNeedDrain);
    expect((await exportOf('period=1m&format=ndjson')).text.split('\n').length).toBeGreaterThan(300);
    response.destroy();
    await within('the export to end', ended);
    const readsThen = reads;
    expect((await exportOf('period=1m')).status).toBe(200);
    expect(reads - readsThen).toBe(1);
    expect(readsThen).toBeLessThan(8);
    expect(begun[0]!.maxBytes).toBeLessThan(512 * 1024);
    expect(answer.writableFinished).toBe(false);
    expect(api.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('runs at most four exports at the same time', async () => {
    await store(100_000);
    const clients = await Promise.all([1, 2, 3, 4].map(beginToRead));
    await until(
      'every export to wait for its client',
      () => begun.map(({ response }) => response.writableNeedDrain),
      (waits) => waits.every(Boolean),
    );
    const refused = await exportOf();
    expect([refused.status, refused.problem.error, refused.headers['retry-after']]).toEqual([
      429,
      'busy',
      '10',
    ]);
    for (const client of clients) client.destroy();
    await Promise.all(begun.map(({ ended }) => ended.catch(() => undefined)));
    expect((await exportOf('period=1m')).status).toBe(200);
  });
});
