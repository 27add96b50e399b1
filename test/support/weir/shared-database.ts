/** A separate PostgreSQL for several nodes that can be restarted and killed. */
import pg from 'pg';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { prepareCluster } from '../../../control-plane/storage/db/embedded-cluster.ts';
import { startServer } from '../../../control-plane/storage/db/postgres/start-server.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { WAIT_MS, within } from '../parts/until.ts';

/** Enough connections for ten nodes; the embedded server has enough for one. */
const SETTINGS = { max_connections: 400 };
const STOP_MS = 5000;

/** A running server. */
export interface SharedDatabase extends AsyncDisposable {
  /** URL of the server, in the form of `database.url`. */
  readonly url: string;
  /** Ends the server with a signal and starts it again. */
  restart(signal: 'SIGINT' | 'SIGKILL'): Promise<void>;
  /** Rows of a query. */
  rows<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
}

/** Starts a server in a folder; stops everything if this fails. */
export async function startSharedDatabase(dataDir: string): Promise<SharedDatabase> {
  await using stack = new AsyncDisposableStack();
  const lock = lockDataDir(dataDir);
  stack.defer(() => lock.release());
  const { signal } = new AbortController();
  const { place } = await prepareCluster(lock.dataDir, {
    report: () => undefined,
    logger: new MemoryLogger(),
    signal,
  });
  const start = () => startServer({ ...place, settings: SETTINGS });
  let server = await start();
  stack.defer(() => server.stop(STOP_MS));
  const { address } = server;
  const { user, password, port, database, host } = address;
  const started = stack.move();
  return {
    url: `postgres://${user}:${password}@localhost:${String(port)}/${database}?host=${encodeURIComponent(host)}`,
    async restart(signal) {
      process.kill(server.pid, signal);
      await within(`PostgreSQL to end after ${signal}`, server.exited);
      server = await start();
    },
    async rows<Row extends pg.QueryResultRow>(sql: string) {
      const client = new pg.Client({ ...address, connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS });
      await client.connect();
      try {
        return (await client.query<Row>(sql)).rows;
      } finally {
        await client.end();
      }
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
