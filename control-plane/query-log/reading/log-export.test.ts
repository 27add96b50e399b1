import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { logRow, type RowInWords, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog, logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { exportQueries } from './log-export.ts';
import type { LogSelection } from './log-request.ts';
import type { LogSource } from './log-source.ts';
import { readQueryLog } from './query-log-store.ts';

const START_MS = Date.UTC(2026, 6, 5, 12);
const MIB = 1024 * 1024;
const ALL: LogSelection = { from: null, to: null };

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());
afterEach(() => emptyLog(own.database));

function storeEach(count: number, rowOf: (place: number) => Partial<RowInWords>): Promise<void> {
  const rows = Array.from({ length: count }, (_, place) =>
    logRow({ responseTimeUs: place, ...rowOf(place) }),
  );
  return storeRows(own.database, rows);
}

function exported(
  selection: Partial<LogSelection> = {},
  log = logSourceOf(own.database),
): AsyncGenerator<LoggedQuery[]> {
  return exportQueries(log, { ...ALL, ...selection });
}

/** The exported rows, identified by their response time. */
async function numbers(selection: Partial<LogSelection> = {}): Promise<number[]> {
  return (await Array.fromAsync(exported(selection))).flat().map((row) => row.response_time_us);
}

/** A log that counts how often it is read. */
function countingLog(): LogSource & { reads: number } {
  const log = logSourceOf(own.database);
  const counting = {
    ...log,
    reads: 0,
    read: <T>(work: Parameters<typeof log.read<T>>[0]) => {
      counting.reads++;
      return log.read(work);
    },
  };
  return counting;
}

describe('exportQueries()', () => {
  test('returns 50,000 rows of 20 runs in order, without duplicates, in little memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let part = 0; part < 20; part++)
      await storeEach(2500, (i) => ({
        timestampMs: START_MS + (part >> 1) * 3_600_000 + i * 1440 + (part % 2) * 100 - (i % 7) * 300,
        qname: wireName(`host-${i}.example.org`),
      }));
    const memory = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / MIB;
    };
    const before = memory();
    const ids = new Set<number>();
    let [last, max, batches] = ['9', 0, 0];
    for await (const rows of exported()) {
      expect(rows.length).toBeLessThanOrEqual(250);
      if (batches++ % 40 === 0) max = Math.max(max, memory() - before);
      for (const { id, timestamp } of rows) {
        if (timestamp > last) throw new Error(`${timestamp} comes after ${last}`);
        last = timestamp;
        ids.add(id);
      }
    }
    expect(ids.size).toBe(50_000);
    expect(max).toBeLessThan(20);
  });

  test('reads more of the log only when its rows are consumed', async () => {
    for (let part = 0; part < 6; part++)
      await storeEach(5000, (i) => ({ timestampMs: START_MS + (part >> 1) * 3_600_000 + i * 700 + part }));
    const log = countingLog();
    const rows = exported({}, log);
    await rows.next();
    expect(log.reads).toBe(1);
    let taken = 250;
    while (log.reads === 1) taken += ((await rows.next()).value as LoggedQuery[]).length;
    expect(taken).toBeGreaterThan(9000);
    expect(taken).toBeLessThan(25_000);
    await rows.return(undefined);
    expect(log.reads).toBe(2);
  });

  test('returns the same rows as a page of the log', async () => {
    await storeEach(30, (i) => ({ timestampMs: START_MS - i * 60_000 * 4, groupId: 1 + (i % 3) }));
    const page = await readQueryLog(logSourceOf(own.database), { limit: 100, offset: 0 });
    expect((await Array.fromAsync(exported())).flat()).toEqual(page.data);
  });

  test('applies a time range, filters and negated filters', async () => {
    const isBlocked = (i: number): boolean => i % 5 === 0;
    await storeEach(100, (i) => ({
      timestampMs: START_MS - i * 60_000,
      status: isBlocked(i) ? QueryStatus.BLOCKED_LIST : QueryStatus.CACHED,
      groupId: 1 + (i % 2),
      answers: Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9),
    }));
    const all = Array.from({ length: 100 }, (_, i) => i);
    expect(await numbers({ status: 'BLOCKED_LIST' })).toEqual(all.filter(isBlocked));
    expect(await numbers({ not: { status: 'BLOCKED_LIST' }, group_id: 2 })).toEqual(
      all.filter((i) => !isBlocked(i) && i % 2 === 1),
    );
    const from = new Date(START_MS - 60 * 60_000);
    const to = new Date(START_MS - 10 * 60_000);
    expect(await numbers({ from, to })).toEqual(all.filter((i) => i > 10 && i <= 60));
    const [some] = await Array.fromAsync(exported({ status: 'BLOCKED_LIST' }));
    expect(some![0]!.answers).toEqual([{ name: 'www.example.org', type: 'A', ttl: 60, data: '192.0.2.9' }]);
    expect(await numbers({ node: 'nowhere' })).toEqual([]);
  });

  test('returns each row once if rows of many blocks have the same time', async () => {
    for (let run = 0; run < 12; run++) await storeEach(2000, () => ({ timestampMs: START_MS }));
    const rows = (await Array.fromAsync(exported())).flat();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(24_000);
    expect(rows).toHaveLength(24_000);
  });

  test('leaves out a block whose answers are damaged, and reports it', async () => {
    for (const hour of [0, 1, 2])
      await storeEach(3, () => ({ timestampMs: START_MS + hour * 3_600_000, answers: Uint8Array.of(1) }));
    await own.database.query(
      "UPDATE query_blocks SET answers = '\\x00'::bytea || substr(answers, 2) WHERE first_time = $1",
      [new Date(START_MS + 3_600_000)],
    );
    const logger = new MemoryLogger();
    const rows = (await Array.fromAsync(exported({}, logSourceOf(own.database, logger)))).flat();
    expect(rows.map(({ timestamp }) => timestamp.slice(11, 13))).toEqual([
      '14',
      '14',
      '14',
      '12',
      '12',
      '12',
    ]);
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});
