import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  BLOCKED_STATUSES,
  DNSSEC_STATUS_NAMES,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
} from '../../../shared/query-log.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { inWords } from '../../../test/support/parts/blocks-of-rows.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { emptyLog } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { JobLeases, type Lease } from '../../cluster/leases.ts';
import { BlockReader } from '../block/block-reader.ts';
import { forEachRow } from '../block/block-rows.ts';
import { scanBlocks } from '../search/block-scan.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { CarryOver } from './carry-over.ts';
import { listOldDays } from './old-partitions.ts';
import type { OldRow } from './old-rows.ts';

const DAYS = [3, 4, 5].map((day) => Date.UTC(2026, 6, day) / DAY_MS);
const SPAN = { fromUs: DAYS[0]! * DAY_MS * 1000, toUs: (DAYS[2]! + 1) * DAY_MS * 1000 };
const ROWS_PER_DAY = 90;
const LOGGER = new MemoryLogger();
const HELD: Lease = { signal: new AbortController().signal, confirm: async () => undefined };

let own: TestDatabase;
let monotonicMs = 0;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await emptyLog(own.database);
  for (const day of DAYS) await logAsBefore(day);
  await own.database.query('INSERT INTO query_log_batches SELECT gen_random_uuid()');
});
afterAll(() => own.stop());

/** Rows of a day as earlier versions stored them, with all kinds of columns; sixty of them within a millisecond. */
async function logAsBefore(day: number): Promise<void> {
  const [date, next] = [day, day + 1].map((at) => new Date(at * DAY_MS).toISOString());
  const table = `query_log_${date!.slice(0, 10).replaceAll('-', '')}`;
  await asOwner(own.database, `DROP TABLE IF EXISTS ${table}`);
  await asOwner(
    own.database,
    `CREATE TABLE ${table} PARTITION OF query_log FOR VALUES FROM ('${date}') TO ('${next}')
     WITH (autovacuum_enabled = false)`,
  );
  await own.database.query(
    `INSERT INTO query_log ("timestamp", node_id, group_id, response_time_us, type, rcode, status, protocol, dnssec,
       cached, client, domain, block_source, block_rule, upstream, answers)
     SELECT $1::timestamptz + CASE WHEN i < 60 THEN interval '1 hour' + i * interval '13 microseconds'
         ELSE i * interval '15 minutes 7 microseconds' END,
       1 + i % 2, 1 + i % 3, i * 1000003 % 2147483647, CASE i % 4 WHEN 0 THEN 1 WHEN 1 THEN 28 WHEN 2 THEN -1 ELSE -32768 END,
       i * 45 % 4096, i % 18, i % 4, i % 5, i % 3 = 0,
       (CASE i % 3 WHEN 0 THEN '192.0.2.' || i WHEN 1 THEN '2001:db8::' || i ELSE '::' END)::inet,
       CASE i % 5 WHEN 0 THEN '.' WHEN 1 THEN 'a\\.b\\032\\255.example.org' ELSE 'n' || i % 7 || '.example.org' END,
       CASE WHEN i % 18 BETWEEN 4 AND 10 THEN 'Liste ü' END, CASE WHEN i % 18 BETWEEN 4 AND 10 THEN '||n' || i || '^' END,
       CASE WHEN i % 2 = 0 THEN 'udp://192.0.2.' || i % 3 || ':53' END,
       CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '\\xc00c00010001000000640004c0000201'::bytea
         WHEN 2 THEN '\\x010203'::bytea ELSE '\\xc00c00010001ffffffff0004c0000201c00c0001000100000001000400000000'::bytea END
     FROM generate_series(0, ${ROWS_PER_DAY - 1}) AS i`,
    [date],
  );
}

interface StoredBefore extends Omit<OldRow, 'timestamp_us'> {
  readonly us: number;
  readonly address: string;
  readonly records: string;
}

/** What the old table holds, in words. */
async function oldRows(): Promise<string[]> {
  const { rows } = await own.database.query<StoredBefore>(
    `SELECT *, (extract(epoch FROM "timestamp") * 1000000)::bigint AS us, host(client) AS address,
       encode(coalesce(answers, ''), 'hex') AS records FROM query_log`,
  );
  const inText = rows.map((row) =>
    JSON.stringify({
      node: row.node_id,
      timestampUs: row.us,
      client: row.address,
      group: row.group_id,
      clientId: 0,
      name: row.domain,
      source: row.block_source,
      rule: row.block_rule,
      alias: null,
      lists: [],
      outcome: [
        row.type & 0xffff,
        QUERY_STATUS_NAMES[row.status],
        row.rcode,
        PROTOCOL_NAMES[row.protocol],
        DNSSEC_STATUS_NAMES[row.dnssec],
        row.cached,
        row.upstream,
      ],
      responseTimeUs: row.response_time_us,
      answers: row.records,
    }),
  );
  return inText.sort();
}

/** What the blocks hold, in the same words. */
async function newRows(): Promise<string[]> {
  const inText: string[] = [];
  const pieces = new Set(['names', 'queries', 'answers'] as const);
  await own.database.background().read(async (tx) => {
    for await (const block of scanBlocks(tx, { ...SPAN, pieces })) {
      forEachRow(new BlockReader(block), (row, at) => {
        const { timestampUs: _, ...words } = inWords(row);
        inText.push(JSON.stringify({ node: block.nodeId, timestampUs: at, ...words }));
      });
    }
  });
  return inText.sort();
}

/** Counts by day and node as the old table gives them. */
async function oldCounts(): Promise<unknown> {
  const { rows } = await own.database.query(
    `SELECT date_trunc('day', "timestamp", 'UTC') AS start, node_id, count(*) AS queries,
       count(*) FILTER (WHERE status = ANY($1)) AS blocked,
       count(*) FILTER (WHERE cached AND status <> ALL($1)) AS cached,
       count(upstream) FILTER (WHERE NOT cached AND status <> ALL($1)) AS forwarded, count(*) FILTER (WHERE status = 12) AS rate_limited,
       count(*) FILTER (WHERE type = 28) AS aaaa, sum(response_time_us)::bigint AS us
     FROM query_log GROUP BY 1, 2 ORDER BY 1, 2`,
    [BLOCKED_STATUSES],
  );
  return rows;
}

async function newCounts(grain: string): Promise<unknown> {
  const { rows } = await own.database.query(
    `SELECT date_trunc('day', start, 'UTC') AS start, node_id, sum(queries)::bigint AS queries,
       sum(blocked)::bigint AS blocked, sum(cached)::bigint AS cached, sum(forwarded)::bigint AS forwarded,
       sum(rate_limited)::bigint AS rate_limited, sum(coalesce((counts ->> 'type:28')::bigint, 0))::bigint AS aaaa,
       sum(coalesce((counts ->> 'us:all')::bigint, 0))::bigint AS us
     FROM query_counts WHERE grain = $1::"char" GROUP BY 1, 2 ORDER BY 1, 2`,
    [grain],
  );
  return rows;
}

function job(onClock: () => void = () => undefined, logger = LOGGER): CarryOver {
  const clock = {
    monotonicMs: () => {
      onClock();
      return monotonicMs;
    },
  };
  return new CarryOver({ database: own.database, clock, logger, chunkRows: 16 });
}

async function rowsLeft(): Promise<number> {
  return (await own.database.query<{ n: number }>('SELECT count(*)::integer AS n FROM query_log')).rows[0]!.n;
}

describe('CarryOver', () => {
  test('run() carries every field and count over, however often it is interrupted, and once only', async () => {
    const rows = await oldRows();
    const counts = await oldCounts();
    expect(rows).toHaveLength(3 * ROWS_PER_DAY);
    // Stopped after the third chunk: the newest rows are in blocks, nothing is in both.
    const stop = new AbortController();
    let chunks = -1;
    expect(await job(() => ++chunks === 3 && stop.abort()).run({ ...HELD, signal: stop.signal })).toBe(false);
    const moved = await newRows();
    expect(moved.length).toBeGreaterThan(0);
    expect([...moved, ...(await oldRows())].sort()).toEqual(rows);
    // A statement fails in the middle of a chunk: that chunk stays as it was.
    await asOwner(
      own.database,
      `CREATE SEQUENCE attempts; CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF nextval('attempts') = 9 THEN RAISE 'no more'; END IF; RETURN NULL; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON query_counts FOR EACH STATEMENT EXECUTE FUNCTION fail()`,
    );
    await expect(job().run(HELD)).rejects.toThrow('no more');
    expect([...(await newRows()), ...(await oldRows())].sort()).toEqual(rows);
    expect(await rowsLeft()).toBeLessThan(rows.length - moved.length);
    // Then it goes on to the end, and has nothing to do again.
    expect(await job().run(HELD)).toBe(true);
    expect(await job().run(HELD)).toBe(true);
    expect(await newRows()).toEqual(rows);
    for (const grain of ['m', 'q', 'd']) expect(await newCounts(grain)).toEqual(counts);
    expect(await listOldDays(own.database)).toEqual([]);
    expect((await own.database.query('SELECT 1 FROM query_log_batches')).rows).toEqual([]);
    // The numbers of each day and node have no gap.
    const { rows: runs } = await own.database.query('SELECT stored::text, last_seq FROM query_runs');
    expect(runs).toEqual(Array.from({ length: 6 }, () => ({ stored: '{[0,45)}', last_seq: 44 })));
  });

  test('run() by two nodes at once moves each row once', async () => {
    const rows = await oldRows();
    const nodes = [1, 2, 3].map(() => {
      const leases = new JobLeases({ database: own.database, logger: LOGGER, node: randomUUID() });
      const carryOver = job();
      return () => leases.hold('carry over', (lease) => carryOver.run(lease));
    });
    const outcomes = await Promise.all(nodes.map((run) => run()));
    expect(outcomes.filter(Boolean)).toEqual([true]);
    expect(await newRows()).toEqual(rows);
  });

  test('run() tells of its progress once a minute and of its end', async () => {
    const logger = new MemoryLogger();
    let calls = 0;
    await job(() => (monotonicMs += ++calls === 3 ? 60_000 : 0), logger).run(HELD);
    expect(logger.lines.map(({ level, fields }) => [level, fields])).toEqual([
      ['info', { rows: expect.any(Number), days_left: 3 }],
      ['info', { rows: 3 * ROWS_PER_DAY }],
    ]);
  });

  test('run() leaves out what is no query, and says how many', async () => {
    const logger = new MemoryLogger();
    await own.database.query(
      `INSERT INTO query_log SELECT (jsonb_populate_record(l, '{"domain": "a..b", "id": -1}')).* FROM query_log AS l LIMIT 1`,
    );
    const { rows } = await own.database.query(
      `UPDATE query_log SET status = 99 WHERE domain = '.' RETURNING 1`,
    );
    expect(await job(undefined, logger).run(HELD)).toBe(true);
    expect(logger.lines.at(-1)?.fields).toEqual({ rows: 3 * ROWS_PER_DAY + 1, unreadable: 1 });
    expect(
      (await newRows()).filter((row) => row.includes('"name":".",') && row.includes('"ALLOWED"')),
    ).toHaveLength(rows.length);
  });
});
