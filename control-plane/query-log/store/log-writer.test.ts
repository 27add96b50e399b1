import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { batchesOf, emptyLog, storedRows } from '../../../test/support/parts/stored-log.ts';
import { makeTempDir, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../../shared/query-log.ts';
import { DatabaseUnavailable } from '../../db/database-errors.ts';
import type { Database } from '../../db/database.ts';
import { serversOn } from '../../db/postgres-process.ts';
import { LogWriter } from './log-writer.ts';
import type { LogWriterOptions } from './log-writer.ts';
import { setAside } from './refused-batches.ts';

let own: TestDatabase;
const writers: LogWriter[] = [];
const dirs: string[] = [];

beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  await emptyLog(own.database);
});
afterAll(() => own.stop());

/** A database that is away until `come()`. */
function awayDatabase(): { database: Database; come: () => void } {
  let isUp = false;
  const listeners = new Set<Parameters<Database['onStatus']>[0]>();
  const tell = (): void => {
    for (const listener of listeners) listener(database.status());
  };
  const database: Database = {
    ...own.database,
    status: () => ({ state: isUp ? 'up' : 'down', server: 'test', error: isUp ? null : 'away' }),
    onStatus(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenUp: () => own.database.whenUp(),
    query: (text, values) => own.database.query(text, values),
    transaction: (work) => own.database.transaction(work),
    transactionInTurn: (lock, work) => own.database.transactionInTurn(lock, work),
    withClient: (work) =>
      isUp ? own.database.withClient(work) : Promise.reject(new DatabaseUnavailable('away')),
    close: () => Promise.resolve(),
  };
  return {
    database,
    come() {
      isUp = true;
      tell();
    },
  };
}

/** A writer with a spool of its own, closed when the test ends. */
function writerOn(change: Partial<LogWriterOptions> = {}): {
  writer: LogWriter;
  spool: string;
  logger: MemoryLogger;
} {
  const dataDir = change.dataDir ?? makeTempDir();
  dirs.push(dataDir);
  const logger = new MemoryLogger();
  const writer = new LogWriter({
    database: own.database,
    dataDir,
    nodeId: 7,
    logger,
    privacy: () => 'full',
    ...change,
  });
  writers.push(writer);
  return { writer, spool: join(dataDir, 'spool'), logger };
}

async function storedDomains(): Promise<string[]> {
  return (await storedRows(own.database)).map(({ domain }) => domain).sort();
}

describe('LogWriter', () => {
  test('append() keeps every field on its way through the database and back', async () => {
    const { writer } = writerOn();
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
    expect(await storedRows(own.database)).toEqual([
      {
        id: expect.any(Number),
        timestamp: '2026-07-05T12:30:15.250Z',
        node: '',
        client: '2001:db8::5',
        client_hostname: null,
        group_id: 3,
        domain: 'ads.example.com',
        type: 'TYPE65280',
        protocol: 'doh',
        status: 'BLOCKED_LIST',
        block_source: 'Ünïcode list',
        block_rule: '||ads.example.com^',
        rcode: 'NXDOMAIN',
        response_time_us: 1234,
        cached: false,
        upstream: 'udp://192.0.2.53:53',
        dnssec_status: 'bogus',
        answers: [{ name: 'ads.example.com', type: 'A', ttl: 60, data: '192.0.2.1' }],
      },
    ]);
  });

  test('append() writes hostile names in their escaped form and nothing else', async () => {
    const { writer } = writerOn();
    const hostile = Uint8Array.from([4, 0x00, 0xff, 0x2e, 0x5c, 3, 0x41, 0x20, 0x7f, 2, 0x27, 0x3b, 0]);
    writer.append(logRow({ qname: hostile }));
    writer.append(logRow({ qname: Uint8Array.of(0) }));
    const longest = Uint8Array.from({ length: 255 }, (_, i) =>
      i === 254 ? 0 : i % 64 === 0 ? (i === 192 ? 61 : 63) : 0xff,
    );
    writer.append(logRow({ qname: longest }));
    await writer.flush();
    const escaped = (count: number): string => '\\255'.repeat(count);
    expect(await storedDomains()).toEqual(
      ['.', "\\000\\255\\.\\\\.a\\032\\127.';", [63, 63, 63, 61].map(escaped).join('.')].sort(),
    );
  });

  test('append() copies: the caller may use the row again at once', async () => {
    const { writer } = writerOn();
    for (const name of ['a.example', 'b.example']) {
      const row = logRow({ qname: wireName(name) });
      writer.append(row);
      row.bytes.fill(0x78);
    }
    await writer.flush();
    expect(await storedDomains()).toEqual(['a.example', 'b.example']);
  });

  test('append() obeys every level of privacy, and stores an IPv4-mapped client as IPv4', async () => {
    const mapped = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 99]);
    const six = Uint8Array.from([0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 5]);
    const outcomes: unknown[] = [];
    for (const privacy of ['full', 'no_answers', 'anonymous_clients', 'off'] as const) {
      const { writer } = writerOn({ privacy: () => privacy });
      for (const client of [mapped, six]) writer.append(logRow({ client, answers: Uint8Array.of(1) }));
      await writer.flush();
      const rows = await storedRows(own.database);
      const shown = rows.map(({ client, answers }) => `${client} ${answers ? 'answers' : 'none'}`);
      outcomes.push([privacy, ...shown.sort()]);
      await emptyLog(own.database);
    }
    expect(outcomes).toEqual([
      ['full', '192.0.2.99 answers', '2001:db8:1:2:3::5 answers'],
      ['no_answers', '192.0.2.99 none', '2001:db8:1:2:3::5 none'],
      ['anonymous_clients', '192.0.2.0 answers', '2001:db8:1:: answers'],
      ['off'],
    ]);
  });

  test('append() sends full blocks by itself, and rows of several days to their days', async () => {
    const { writer } = writerOn();
    for (let i = 0; i < 30; i++) writer.append(logRow({ timestampMs: Date.UTC(2026, 6, 1 + (i % 3)) }));
    await writer.flush();
    await until(() => writer.counters().written === 30);
    const { rows } = await own.database.query(
      'SELECT tableoid::regclass::text AS day, sum(row_count)::integer AS count FROM query_blocks GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual(['01', '02', '03'].map((day) => ({ day: `query_blocks_202607${day}`, count: 10 })));
  });

  test('append() sends a lonely row after the wait', async () => {
    const { writer } = writerOn({ maxWaitMs: 20 });
    writer.append(logRow());
    await until(() => writer.counters().written === 1);
    expect(writer.counters()).toEqual({ written: 1, spooled: 0, dropped: 0, refused: 0, waiting: 0 });
  });

  test('rows of a database that is away are spooled for weir’s eyes only, and stored when it comes', async () => {
    const { database, come } = awayDatabase();
    const { writer, spool } = writerOn({ database });
    for (const name of ['first.example', 'second.example']) {
      writer.append(logRow({ qname: wireName(name) }));
      await writer.flush();
    }
    const files = readdirSync(spool);
    expect(files).toHaveLength(1);
    expect(statSync(spool).mode & 0o777).toBe(0o700);
    expect(statSync(join(spool, files[0]!)).mode & 0o777).toBe(0o600);
    expect(writer.counters()).toEqual({ written: 0, spooled: 2, dropped: 0, refused: 0, waiting: 0 });
    come();
    await until(() => readdirSync(spool).length === 0);
    expect(await storedDomains()).toEqual(['first.example', 'second.example']);
    expect(writer.counters()).toEqual({ written: 2, spooled: 2, dropped: 0, refused: 0, waiting: 0 });
  });

  test('a spool that an earlier run left is stored up to where it was cut off', async () => {
    const { database } = awayDatabase();
    const first = writerOn({ database });
    for (const name of ['whole.example', 'cut.example']) {
      first.writer.append(logRow({ qname: wireName(name) }));
      await first.writer.flush();
    }
    await first.writer.close();
    const file = join(first.spool, readdirSync(first.spool)[0]!);
    writeFileSync(file, readFileSync(file).subarray(0, -5));
    const second = writerOn({ dataDir: join(first.spool, '..') });
    await until(() => readdirSync(first.spool).length === 0);
    expect(await storedDomains()).toEqual(['whole.example']);
    expect(second.logger.text()).toContain('rows of a damaged file are lost');
  });

  test('a batch that was stored but whose file stayed is not stored again', async () => {
    const { database } = awayDatabase();
    const first = writerOn({ database });
    first.writer.append(logRow());
    await first.writer.close();
    const file = join(first.spool, readdirSync(first.spool)[0]!);
    const content = readFileSync(file);
    for (let round = 0; round < 2; round++) {
      writeFileSync(file, content);
      const { writer } = writerOn({ dataDir: join(first.spool, '..') });
      await until(() => readdirSync(first.spool).length === 0);
      await writer.close();
    }
    expect(await storedDomains()).toEqual(['www.example.org']);
  });

  test('the spool gives up its oldest rows beyond its bound, and counts them', async () => {
    const { database, come } = awayDatabase();
    const { writer, spool, logger } = writerOn({ database, maxSpoolBytes: 3_000_000 });
    for (let i = 0; i < 90; i++) {
      writer.append(logRow({ responseTimeUs: i, answers: randomBytes(60_000) }));
      await writer.flush();
    }
    const { dropped } = writer.counters();
    const used = readdirSync(spool).reduce((sum, name) => sum + statSync(join(spool, name)).size, 0);
    expect(used).toBeLessThanOrEqual(3_000_000);
    expect(dropped).toBeGreaterThan(0);
    expect(dropped).toBeLessThan(60);
    expect(logger.text()).toContain('the spool is full');
    come();
    await until(() => writer.counters().written === 90 - dropped);
    const times = (await storedRows(own.database)).map((row) => row.response_time_us);
    expect(times.sort((a, b) => a - b)).toEqual(Array.from({ length: 90 - dropped }, (_, i) => dropped + i));
  });

  test('close() puts what the database does not take into the spool', async () => {
    const { database } = awayDatabase();
    const { writer, spool } = writerOn({ database });
    writer.append(logRow());
    await writer.close();
    expect(readdirSync(spool)).toHaveLength(1);
  });

  test('rows that the disk does not take wait in memory, and are stored when it takes them', async () => {
    const { database, come } = awayDatabase();
    const dataDir = makeTempDir();
    // A file where the folder of the spool belongs stands for a disk that refuses.
    const obstacle = join(dataDir, 'spool');
    writeFileSync(obstacle, '');
    const { writer, logger } = writerOn({ database, dataDir, maxWaitMs: 20 });
    writer.append(logRow({ qname: wireName('kept.example') }));
    await until(() => logger.text().includes('rows are kept in memory'));
    expect(writer.counters()).toMatchObject({ written: 0, spooled: 0, dropped: 0 });
    rmSync(obstacle);
    await until(() => writer.counters().spooled === 1);
    come();
    await until(() => writer.counters().written === 1);
    expect(await storedDomains()).toEqual(['kept.example']);
    expect(writer.counters()).toEqual({ written: 1, spooled: 1, dropped: 0, refused: 0, waiting: 0 });
  });

  test('rows that the database refuses for what is in them are set aside on disk, told and counted; others are stored', async () => {
    const { writer, spool, logger } = writerOn();
    await own.database.query('ALTER TABLE query_blocks ADD CONSTRAINT no_poison CHECK (row_count <> 2)');
    try {
      for (let i = 0; i < 2; i++) writer.append(logRow({ qname: wireName('poison.example') }));
      await writer.flush();
      writer.append(logRow({ qname: wireName('good.example') }));
      await writer.flush();
    } finally {
      await own.database.query('ALTER TABLE query_blocks DROP CONSTRAINT no_poison');
    }
    expect(await storedDomains()).toEqual(['good.example']);
    expect(writer.counters()).toMatchObject({ refused: 2, written: 1, dropped: 0 });
    const [name, ...others] = readdirSync(join(spool, 'refused'));
    expect(others).toEqual([]);
    expect(readFileSync(join(spool, 'refused', name!), 'latin1')).toContain('"rowCount":2');
    expect(logger.text()).toContain(join(spool, 'refused', name!));
    expect(logger.text()).toContain('no_poison');
  });

  test('rows that wait in the spool are stored, but those that the database refuses are set aside', async () => {
    const { database, come } = awayDatabase();
    const { writer, spool } = writerOn({ database });
    for (const [domain, rows] of [
      ['one.example', 1],
      ['poison.example', 2],
      ['two.example', 1],
    ] as const) {
      for (let i = 0; i < rows; i++) writer.append(logRow({ qname: wireName(domain) }));
      await writer.flush();
    }
    await own.database.query('ALTER TABLE query_blocks ADD CONSTRAINT no_poison CHECK (row_count <> 2)');
    try {
      come();
      await until(() => writer.counters().refused === 2 && writer.counters().written === 2);
    } finally {
      await own.database.query('ALTER TABLE query_blocks DROP CONSTRAINT no_poison');
    }
    expect(await storedDomains()).toEqual(['one.example', 'two.example']);
    expect(readdirSync(join(spool, 'refused'))).toHaveLength(1);
    expect(writer.counters().dropped).toBe(0);
  });

  test('flush() sends rows that come while the spool is looked into', async () => {
    let flushed: Promise<void> | undefined;
    const { writer } = writerOn({ maxWaitMs: 600_000 });
    const up = own.database.status();
    // The database is asked for its status just before the spool is.
    const status = jest.spyOn(own.database, 'status').mockImplementation(() => {
      if (flushed === undefined) {
        writer.append(logRow({ qname: wireName('late.example') }));
        flushed = writer.flush();
      }
      return up;
    });
    await until(() => flushed !== undefined);
    status.mockRestore();
    await flushed;
    expect(writer.counters()).toMatchObject({ written: 1, waiting: 0 });
    expect(await storedDomains()).toEqual(['late.example']);
  });

  test('rows that the database does not take for any other reason wait in the spool until it does', async () => {
    const { writer } = writerOn({ maxWaitMs: 20 });
    await own.database.query('ALTER TABLE query_blocks RENAME COLUMN head TO another');
    try {
      writer.append(logRow({ qname: wireName('patient.example') }));
      await writer.flush();
      expect(writer.counters()).toMatchObject({ spooled: 1, dropped: 0, refused: 0 });
      expect(writer.trouble()).toMatch(/retried later.*"head"/);
    } finally {
      await own.database.query('ALTER TABLE query_blocks RENAME COLUMN another TO head');
    }
    await until(() => writer.counters().written === 1);
    expect(await storedDomains()).toEqual(['patient.example']);
    await until(() => writer.trouble() === null);
  });

  test('rows wait in the spool while the name of the node is somebody else’s, and are its own when they are stored', async () => {
    const dataDir = makeTempDir();
    let isHeld = false;
    const { writer } = writerOn({ dataDir, maxWaitMs: 20, nodeId: 7, mayStore: () => isHeld });
    for (const domain of ['one.example', 'two.example'])
      writer.append(logRow({ qname: wireName(domain), upstream: null, blockSource: 'list' }));
    await until(() => writer.counters().spooled === 2);
    expect(await storedDomains()).toEqual([]);
    await writer.close();
    // Under the name that the operator chose then.
    const { writer: renamed } = writerOn({ dataDir, maxWaitMs: 20, nodeId: 8, mayStore: () => isHeld });
    isHeld = true;
    await until(() => renamed.counters().written === 2);
    const { rows } = await own.database.query('SELECT DISTINCT node_id FROM query_blocks');
    expect(rows).toEqual([{ node_id: 8 }]);
    expect(await storedDomains()).toEqual(['one.example', 'two.example']);
  });

  test('setAside() keeps a bounded number of batches, the newest', async () => {
    const dir = makeTempDir();
    dirs.push(dir);
    const kept: string[] = [];
    for (let index = 0; index < 12; index++) {
      const [batch] = await batchesOf([logRow()]);
      kept.push(await setAside(join(dir, 'refused'), batch!));
      utimesSync(kept.at(-1)!, index, index);
    }
    const names = readdirSync(join(dir, 'refused')).map((name) => join(dir, 'refused', name));
    expect(names.sort()).toEqual(kept.slice(-8).sort());
  });

  test('kill -9 of the database under load loses no row and doubles none', async () => {
    const { writer } = writerOn({ maxWaitMs: 50 });
    let appended = 0;
    const append = (rows: number): void => {
      for (let i = 0; i < rows; i++) {
        writer.append(logRow({ responseTimeUs: appended++ }));
        if (appended % 200 === 0) void writer.flush();
      }
    };
    append(2000);
    await writer.flush();
    // Acknowledged, but not waited for until it is on the disk.
    append(1000);
    const states: string[] = [];
    const stop = own.database.onStatus(({ state }) => states.push(state));
    for (const pid of serversOn(join(own.dataDir, 'postgres', 'cluster'))) process.kill(pid, 'SIGKILL');
    append(1000);
    await until(() => states.includes('down'));
    append(1000);
    await until(() => states.at(-1) === 'up');
    stop();
    append(1000);
    await until(async () => {
      await writer.flush();
      return writer.counters().written >= appended;
    });
    const times = (await storedRows(own.database)).map((row) => row.response_time_us);
    expect(times.sort((a, b) => a - b)).toEqual(Array.from({ length: appended }, (_, i) => i));
    expect(writer.counters().dropped).toBe(0);
  });
});
