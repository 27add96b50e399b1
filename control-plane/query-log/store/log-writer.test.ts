import { describe, expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { LogWriters } from '../../../test/support/parts/log-writers.ts';
import { emptyLog, storedRows } from '../../../test/support/parts/stored-log.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../../shared/query-log.ts';

const suite = new LogWriters();

describe('LogWriter', () => {
  test('append() stores every field unchanged in the database', async () => {
    const { writer } = suite.open();
    const answers = Buffer.from('c00c000100010000003c0004c0000201', 'hex');
    const row = logRow({
      timestampMs: Date.UTC(2026, 6, 5, 12, 30, 15, 250),
      client: Uint8Array.from([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]),
      groupId: 3,
      qname: wireName('ads.example.com'),
      qtype: 65280,
      protocol: Protocol.doh,
      status: QueryStatus.BLOCKED_LIST,
      rcode: 3,
      dnssec: DnssecStatus.bogus,
      responseTimeUs: 1234,
      cached: false,
      blockSource: 'Ünïcode\0 list',
      blockRule: '||ads.example.com^',
      upstream: 'udp://192.0.2.53:53',
      answers,
    });
    writer.append(row);
    await writer.flush();
    expect(await storedRows(suite.database)).toEqual([
      {
        id: expect.any(Number),
        timestamp: '2026-07-05T12:30:15.250Z',
        node: '',
        client: '2001:db8::5',
        client_hostname: null,
        client_id: null,
        group_id: 3,
        repeats: 0,
        domain: 'ads.example.com',
        type: 'TYPE65280',
        protocol: 'doh',
        status: 'BLOCKED_LIST',
        block_source: 'Ünïcode list',
        block_rule: '||ads.example.com^',
        block_alias: null,
        answer_type: null,
        extended_error: null,
        decision_origin: null,
        rcode: 'NXDOMAIN',
        response_time_us: 1234,
        cached: false,
        upstream: 'udp://192.0.2.53:53',
        dnssec_status: 'bogus',
        answers: [{ name: 'ads.example.com', type: 'A', ttl: 60, data: '192.0.2.1' }],
      },
    ]);
  });

  test('append() stores hostile names with escapes only', async () => {
    const { writer } = suite.open();
    const hostile = Uint8Array.from([4, 0x00, 0xff, 0x2e, 0x5c, 3, 0x41, 0x20, 0x7f, 2, 0x27, 0x3b, 0]);
    writer.append(logRow({ qname: hostile }));
    writer.append(logRow({ qname: Uint8Array.of(0) }));
    const longest = Uint8Array.from({ length: 255 }, (_, i) =>
      i === 254 ? 0 : i % 64 === 0 ? (i === 192 ? 61 : 63) : 0xff,
    );
    writer.append(logRow({ qname: longest }));
    await writer.flush();
    const escaped = (count: number): string => '\\255'.repeat(count);
    expect(await suite.storedDomains()).toEqual(
      ['.', "\\000\\255\\.\\\\.a\\032\\127.';", [63, 63, 63, 61].map(escaped).join('.')].sort(),
    );
  });

  test('append() copies its row, so that the caller may reuse it immediately', async () => {
    const { writer } = suite.open();
    for (const name of ['a.example', 'b.example']) {
      const row = logRow({ qname: wireName(name) });
      writer.append(row);
      row.bytes.fill(0x78);
    }
    await writer.flush();
    expect(await suite.storedDomains()).toEqual(['a.example', 'b.example']);
  });

  test('append() applies every privacy level, and stores an IPv4-mapped client address as IPv4', async () => {
    const mapped = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 99]);
    const six = Uint8Array.from([0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 5]);
    const outcomes: unknown[] = [];
    for (const privacy of ['full', 'no_answers', 'anonymous_clients', 'off'] as const) {
      const { writer } = suite.open({ privacy: () => privacy });
      for (const client of [mapped, six]) writer.append(logRow({ client, answers: Uint8Array.of(1) }));
      await writer.flush();
      const rows = await storedRows(suite.database);
      const shown = rows.map(({ client, answers }) => `${client} ${answers ? 'answers' : 'none'}`);
      outcomes.push([privacy, ...shown.sort()]);
      await emptyLog(suite.database);
    }
    expect(outcomes).toEqual([
      ['full', '192.0.2.99 answers', '2001:db8:1:2:3::5 answers'],
      ['no_answers', '192.0.2.99 none', '2001:db8:1:2:3::5 none'],
      ['anonymous_clients', '192.0.2.0 answers', '2001:db8:1:: answers'],
      ['off'],
    ]);
  });

  test('append() sends full blocks automatically, and rows of several days to the partitions of their days', async () => {
    const { writer } = suite.open();
    for (let i = 0; i < 30; i++) writer.append(logRow({ timestampMs: Date.UTC(2026, 6, 1 + (i % 3)) }));
    await writer.flush();
    await until(
      'every row to be stored',
      () => writer.counters(),
      ({ written }) => written === 30,
    );
    const { rows } = await suite.database.query(
      'SELECT tableoid::regclass::text AS day, sum(row_count)::integer AS count FROM query_blocks GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual(['01', '02', '03'].map((day) => ({ day: `query_blocks_202607${day}`, count: 10 })));
  });

  test('append() sends a single row after the maximum wait', async () => {
    const { writer } = suite.open({ maxWaitMs: 20 });
    writer.append(logRow());
    await until(
      'the row to be stored',
      () => writer.counters(),
      ({ written }) => written === 1,
    );
    expect(writer.counters()).toEqual({ written: 1, spooled: 0, dropped: 0, refused: 0, waiting: 0 });
  });

  test('close() writes to the spool the rows that the database does not accept', async () => {
    const { database } = suite.away();
    const { writer, spool } = suite.open({ database });
    writer.append(logRow());
    await writer.close();
    expect(readdirSync(spool)).toHaveLength(1);
  });
});
