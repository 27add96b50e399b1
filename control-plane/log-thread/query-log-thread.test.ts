import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Query } from '../../dns-worker/query/query.ts';
import { LogRingWriter } from '../../dns-worker/report/log-ring.ts';
import { loopName } from '../../shared/dns/loop-name.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { PROBE_TOKEN_LENGTH, PROBE_ZONE } from '../../shared/dns/probe-zone.ts';
import { LogMark, QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { ManualKind } from '../../shared/snapshot/rule-table.ts';
import type { WorkerMemory } from '../../shared/threads/messages.ts';
import { answeredQuery } from '../../test/support/parts/answered-query.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { SMALL_ROWS, SMALL_RULES } from '../../test/support/parts/small-policy.ts';
import { emptyLog, storedRows } from '../../test/support/parts/stored-log.ts';
import { makeTempDir, startTestDatabase, type TestDatabase } from '../../test/support/parts/test-database.ts';
import { until } from '../../test/support/parts/until.ts';
import { TailBatch } from '../query-log/tail/tail-batch.ts';
import type { Database } from '../storage/db/database.ts';
import { createWorkerMemory } from '../threads/worker-memory.ts';
import type { LogSettings } from './log-messages.ts';
import { NameFeed } from './name-feed.ts';
import { QueryLogThread, type Sighting } from './query-log-thread.ts';

const NOON = Date.UTC(2026, 6, 5, 12);
const SETTINGS: LogSettings = {
  privacy: 'full',
  streamPrivacy: 'full',
  limitedPrefixes: { ipv4PrefixLength: 24, ipv6PrefixLength: 56 },
};

let own: TestDatabase;
let dataDir: string;
let memory: WorkerMemory;
let ring: LogRingWriter;
let names: NameFeed;
let logger: MemoryLogger;
let thread: QueryLogThread;
let seen: Sighting[];

beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => {
  dataDir = makeTempDir();
  memory = createWorkerMemory();
  ring = new LogRingWriter(memory.answerLog);
  names = new NameFeed();
  logger = new MemoryLogger();
  seen = [];
  open(own.database);
});
afterEach(async () => {
  await thread.close();
  rmSync(dataDir, { recursive: true, force: true });
  await emptyLog(own.database);
});
afterAll(() => own.stop());

function open(database: Database): void {
  thread = new QueryLogThread({
    database,
    dataDir,
    logger,
    names,
    nodeId: 7,
    runKey: randomUUID(),
    mayWrite: Promise.resolve(),
    settings: SETTINGS,
    stream: null,
  });
  thread.allowStoring(true);
}

function start(): void {
  thread.start({ memories: [memory], seen: (sighting) => seen.push(sighting) });
}

/** Answers a query for each name. */
function answer(domains: readonly string[], change: Partial<Query> = {}): void {
  for (const [at, domain] of domains.entries()) {
    const query = answeredQuery();
    const qname = nameFromText(domain)!;
    query.qname.set(qname);
    Object.assign(query, { qnameLength: qname.length, arrivedMs: NOON + at, ...change });
    ring.write(query, 1);
  }
  ring.publish(10);
}

async function untilStored(rows: number): Promise<void> {
  await until(`${rows} rows to be stored`, async () => {
    await thread.flush();
    return thread.counters().written === rows;
  });
}

async function storedDomains(): Promise<string[]> {
  await thread.flush();
  return (await storedRows(own.database)).map(({ domain }) => domain).sort();
}

describe('QueryLogThread', () => {
  test('stores the records of the rings with the names that were sent before them', async () => {
    start();
    await thread.flush();
    names.rules({ snapshot: { version: 1 }, compiled: SMALL_RULES, rows: SMALL_ROWS });
    names.upstream(2, 'udp://192.0.2.9');
    answer(['games.example'], {
      status: QueryStatus.BLOCKED_MANAGED,
      groupId: 7,
      ruleAttribute: 1,
      ruleOrigin: RuleOrigin.MANAGED,
      ruleKind: ManualKind.DENY_SUFFIX,
    });
    answer(['allowed.example'], { upstream: 3 });
    await thread.flush();
    const rows = await storedRows(own.database);
    expect(rows.map(({ domain, block_source, upstream }) => [domain, block_source, upstream]).sort()).toEqual(
      [
        ['allowed.example', null, 'udp://192.0.2.9'],
        ['games.example', 'no games', null],
      ],
    );
    expect(thread.counters()).toMatchObject({ written: 2, dropped: 0 });
  });

  test('keeps nothing of a query that is answered after privacy was set to off', async () => {
    start();
    answer(['before.example']);
    await thread.flush();
    thread.use({ ...SETTINGS, privacy: 'off' });
    answer(['hidden.example']);
    await thread.flush();
    thread.use(SETTINGS);
    answer(['after.example']);
    expect(await storedDomains()).toEqual(['after.example', 'before.example']);
  });

  test('makes missing partitions by the role that owns the tables', async () => {
    start();
    answer(['far.example'], { arrivedMs: Date.UTC(2031, 1, 2) });
    expect(await storedDomains()).toEqual(['far.example']);
  });

  test('is replaced when it dies: records in the rings stay, and gathered rows are a counted gap', async () => {
    start();
    answer(['stored.example']);
    await thread.flush();
    answer(['lost.example', 'gone.example']);
    await until('the rows to be gathered', () => thread.counters().waiting === 2);
    thread.injectFault();
    await until('the death to be reported', () => logger.lines.some(({ level }) => level === 'error'));
    answer(['kept.example']);
    await untilStored(2);
    expect(await storedDomains()).toEqual(['kept.example', 'stored.example']);
    expect(logger.lines.find(({ level }) => level === 'error')).toMatchObject({
      message: 'replace the query log thread, which died',
      fields: { rows_lost: 2 },
    });
    expect(thread.counters()).toMatchObject({ written: 2, dropped: 2, waiting: 0 });
    const { rows } = await own.database.query<{ stored: string; next_seq: number }>(
      'SELECT stored::text, next_seq FROM query_runs WHERE key = $1',
      [thread.run.key],
    );
    expect(rows).toEqual([{ stored: '{[0,1),[3,4)}', next_seq: 4 }]);
  });

  test('spools while the database is away or the name of the node is not held, and stores from there', async () => {
    thread.allowStoring(false);
    start();
    answer(['early.example']);
    await thread.flush();
    await until('the row to be spooled', () => thread.counters().spooled === 1);
    expect(readdirSync(join(dataDir, 'spool'))).toHaveLength(1);
    thread.allowStoring(true);
    answer(['late.example']);
    await untilStored(2);
    expect(await storedDomains()).toEqual(['early.example', 'late.example']);
  });

  test('closes with all records that were published, stored or spooled', async () => {
    thread.allowStoring(false);
    start();
    answer(['one.example', 'two.example']);
    await thread.stopReading();
    await thread.close();
    expect(thread.counters()).toMatchObject({ spooled: 2, dropped: 0 });
    expect(readdirSync(join(dataDir, 'spool'))).toHaveLength(1);
  });

  test('shows the tail rows that are stored, while it watches', async () => {
    start();
    answer(['unseen.example']);
    await thread.flush();
    thread.watch(true);
    answer(['seen.example']);
    await thread.flush();
    const { blocks, leftOut } = await thread.take();
    const firstSeqs = blocks.map(({ firstSeq }) => firstSeq);
    expect([firstSeqs, leftOut]).toEqual([[1], 0]);
    const origin = { node: 'a', runId: thread.run.id, firstSeq: 1, hostnameOf: () => null };
    const row = JSON.parse(new TailBatch(blocks[0]!.block, origin).row(0).text) as { domain: string };
    expect(row.domain).toBe('seen.example');
    expect(thread.run.id).not.toBeNull();
    thread.watch(false);
    answer(['later.example']);
    await thread.flush();
    expect(await thread.take()).toEqual({ blocks: [], leftOut: 0 });
  });

  test('reports queries for open probes and for names of loop checks, and refused networks', async () => {
    start();
    const [token, loop] = ['a'.repeat(PROBE_TOKEN_LENGTH), '0123456789abcdef01234567'];
    thread.watchProbes([token]);
    const probe = `${token}.${PROBE_ZONE}`;
    answer([probe, probe.replace('a', 'b')], { logMark: LogMark.PROBE });
    answer(['refused.example'], { logMark: LogMark.REFUSED, ruleAttribute: 12 });
    const query = answeredQuery();
    query.qname.set(loopName(loop, null)!);
    query.qnameLength = loopName(loop, null)!.length;
    ring.write(query, 1);
    ring.publish(1);
    await until('three reports', () => seen.length === 3);
    const client = '192.0.2.1';
    expect(seen).toEqual([
      { type: 'probe-seen', query: { token, askedMs: NOON, client, protocol: 'udp' } },
      { type: 'loop-seen', token: loop, client },
      { type: 'refused', samples: [{ client, queries: 12, atMs: NOON }] },
    ]);
  });
});
