/** A PostgreSQL of its own for several nodes, which can be restarted and killed. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { lockDataDir } from '../../../control-plane/db/data-dir-lock.ts';
import { createEmbeddedServer } from '../../../control-plane/db/embedded-server.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';

const LOOK_MS = 20;

/** A running server. */
export interface SharedDatabase extends AsyncDisposable {
  /** As in `database.url`. */
  readonly url: string;
  /** Ends the server with a signal, and starts it again. */
  restart(signal: 'SIGINT' | 'SIGKILL'): Promise<void>;
  /** What a question finds. */
  rows<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
}

/** Starts one in a folder. */
export async function startSharedDatabase(dataDir: string): Promise<SharedDatabase> {
  const lock = lockDataDir(dataDir);
  const server = createEmbeddedServer(lock, new MemoryLogger());
  const address = await server.ensureRunning();
  const { user, password, port, database, host } = address;
  return {
    url: `postgres://${user}:${password}@localhost:${String(port)}/${database}?host=${encodeURIComponent(host)}`,
    async restart(signal) {
      const pid = server.pid();
      if (pid !== undefined) process.kill(pid, signal);
      while (server.pid() !== undefined) await delay(LOOK_MS);
      await server.ensureRunning();
    },
    async rows<Row extends pg.QueryResultRow>(sql: string) {
      const client = new pg.Client({ ...address });
      await client.connect();
      try {
        return (await client.query<Row>(sql)).rows;
      } finally {
        await client.end();
      }
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      lock.release();
    },
  };
}
