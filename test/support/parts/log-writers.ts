/** Writers of the query log over a real database that a suite can disconnect and reconnect. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseUnavailable } from '../../../control-plane/storage/db/database-errors.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { LogWriter } from '../../../control-plane/query-log/store/log-writer.ts';
import type { LogWriterOptions } from '../../../control-plane/query-log/store/log-writer.ts';
import { MemoryLogger } from './memory-logger.ts';
import { emptyLog, storedRows } from './stored-log.ts';
import { makeTempDir, startTestDatabase } from './test-database.ts';
import type { TestDatabase } from './test-database.ts';

/** Set-up of suites that write the log to the database. */
export class LogWriters {
  private own!: TestDatabase;
  private readonly writers: LogWriter[] = [];
  private readonly dirs: string[] = [];

  /** Registers the hooks of a suite. Each test starts with an empty log. */
  constructor() {
    beforeAll(async () => {
      this.own = await startTestDatabase();
    });
    afterEach(async () => {
      for (const writer of this.writers.splice(0)) await writer.close();
      for (const dir of this.dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
      await emptyLog(this.database);
    });
    afterAll(() => this.own.stop());
  }

  get database(): Database {
    return this.own.database;
  }

  /** Folder with the files of the suite's server. */
  get cluster(): string {
    return join(this.own.dataDir, 'postgres', 'cluster');
  }

  /** A folder that is deleted when the test ends. */
  makeDir(): string {
    const dir = makeTempDir();
    this.dirs.push(dir);
    return dir;
  }

  /** A writer with its own spool, closed when the test ends. */
  open(change: Partial<LogWriterOptions> = {}): { writer: LogWriter; spool: string; logger: MemoryLogger } {
    const dataDir = change.dataDir ?? this.makeDir();
    const logger = new MemoryLogger();
    const { database } = this;
    const writer = new LogWriter({ database, dataDir, nodeId: 7, logger, privacy: () => 'full', ...change });
    this.writers.push(writer);
    return { writer, spool: join(dataDir, 'spool'), logger };
  }

  /** Names of the rows in the database, sorted. */
  async storedDomains(): Promise<string[]> {
    return (await storedRows(this.database)).map(({ domain }) => domain).sort();
  }

  /** The database, unreachable until `come()` is called. */
  away(): { database: Database; come: () => void } {
    const { own } = this;
    let isUp = false;
    const listeners = new Set<Parameters<Database['onStatus']>[0]>();
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
      transactionAsOwner: (work) => own.database.transactionAsOwner(work),
      withClient: (work) =>
        isUp ? own.database.withClient(work) : Promise.reject(new DatabaseUnavailable('away')),
      close: () => Promise.resolve(),
    };
    const come = (): void => {
      isUp = true;
      for (const listener of listeners) listener(database.status());
    };
    return { database, come };
  }
}
