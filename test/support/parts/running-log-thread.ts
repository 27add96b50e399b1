/** A log thread over a ring and a real database; each test of the suite gets a new thread. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { LogSettings } from '../../../control-plane/log-thread/log-messages.ts';
import { NameFeed } from '../../../control-plane/log-thread/name-feed.ts';
import { QueryLogThread, type Sighting } from '../../../control-plane/log-thread/query-log-thread.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { createWorkerMemory } from '../../../control-plane/threads/worker-memory.ts';
import type { Query } from '../../../dns-worker/query/query.ts';
import { LogRingWriter } from '../../../dns-worker/report/log-ring.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { LogRing } from '../../../shared/query-log.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import { answeredQuery } from './answered-query.ts';
import { MemoryLogger } from './memory-logger.ts';
import { emptyLog, storedRows } from './stored-log.ts';
import { makeTempDir, startTestDatabase, type TestDatabase } from './test-database.ts';
import { until } from './until.ts';

/** Time of the first query of a test. */
export const NOON = Date.UTC(2026, 6, 5, 12);
/** Settings that log everything. */
export const LOG_SETTINGS: LogSettings = {
  privacy: 'full',
  streamPrivacy: 'full',
  limitedPrefixes: { ipv4PrefixLength: 24, ipv6PrefixLength: 56 },
  pressure: 'slow',
};

/** The thread with its input and its output. */
export class RunningLogThread {
  thread!: QueryLogThread;
  names!: NameFeed;
  logger!: MemoryLogger;
  dataDir!: string;
  /** Sightings of clients that the thread reported. */
  seen: Sighting[] = [];
  private own!: TestDatabase;
  private memory!: WorkerMemory;
  private ring!: LogRingWriter;

  /** Registers the hooks of the suite. */
  constructor() {
    beforeAll(async () => {
      this.own = await startTestDatabase();
    });
    beforeEach(() => this.open());
    afterEach(async () => {
      await this.thread.close();
      rmSync(this.dataDir, { recursive: true, force: true });
      await emptyLog(this.database);
    });
    afterAll(() => this.own.stop());
  }

  get database(): Database {
    return this.own.database;
  }

  /** Words at the start of the ring. */
  get control(): Int32Array {
    return new Int32Array(this.memory.answerLog, 0, LogRing.RECORDS_BYTE / 4);
  }

  start(): void {
    this.thread.start({ memories: [this.memory], seen: (sighting) => this.seen.push(sighting) });
  }

  /** Logs an answered query for each name. */
  answer(domains: readonly string[], change: Partial<Query> = {}): void {
    for (const [at, domain] of domains.entries()) {
      const query = answeredQuery();
      const qname = nameFromText(domain)!;
      query.qname.set(qname);
      Object.assign(query, { qnameLength: qname.length, arrivedMs: NOON + at, ...change });
      this.ring.write(query, 1);
    }
    this.ring.publish(10);
  }

  async untilStored(rows: number): Promise<void> {
    await until(`${rows} rows to be stored`, async () => {
      await this.thread.flush();
      return this.thread.counters().written === rows;
    });
  }

  /** Sorted names in the log, once all queries so far are stored. */
  async storedDomains(): Promise<string[]> {
    await this.thread.flush();
    return (await storedRows(this.database)).map(({ domain }) => domain).sort();
  }

  private open(): void {
    this.dataDir = makeTempDir();
    this.memory = createWorkerMemory();
    this.ring = new LogRingWriter(this.memory.answerLog);
    this.names = new NameFeed();
    this.logger = new MemoryLogger();
    this.seen = [];
    this.thread = new QueryLogThread({
      database: this.database,
      dataDir: this.dataDir,
      logger: this.logger,
      names: this.names,
      nodeId: 7,
      runKey: randomUUID(),
      mayWrite: Promise.resolve(),
      settings: LOG_SETTINGS,
      stream: null,
    });
    this.thread.allowStoring(true);
  }
}
