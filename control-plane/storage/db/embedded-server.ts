/**
 * The embedded PostgreSQL server: a full server from npm packages, which Weir creates on the first start and keeps in
 * its data directory. `database.ts` calls `ensureRunning()` before every connection.
 */
import type { Logger } from '../../../shared/log.ts';
import type { DataDirLock } from './data-dir-lock.ts';
import { prepareCluster } from './embedded-cluster.ts';
import { moveDays, type UpgradeState } from './major/major-upgrade.ts';
import type { PostgresAddress } from './postgres/postgres-address.ts';
import { startServer, type StartedServer } from './postgres/start-server.ts';

/** The embedded server of one data directory. */
export interface EmbeddedServer {
  /**
   * Starts the server unless it is running; resolves when it accepts connections, rejects with the reason if it cannot.
   */
  ensureRunning(): Promise<PostgresAddress>;
  /** State of a major upgrade that is in progress or cannot continue. */
  upgrade(): UpgradeState | undefined;
  /** Process id of the running server, if any. */
  pid(): number | undefined;
  /** Shuts the server down permanently, cleanly if time permits. */
  stop(withinMs?: number): Promise<void>;
}

/** Milliseconds for a shutdown that has no other limit. */
const STOP_MS = 5000;

/**
 * Creates the handle of the server without starting the server. The lock ensures that no other Weir server uses the
 * directory.
 */
export function createEmbeddedServer(
  lock: DataDirLock,
  logger: Logger,
  onUnexpectedEnd: (reason: Error) => void = () => undefined,
): EmbeddedServer {
  let running: StartedServer | undefined;
  let starting: Promise<StartedServer> | undefined;
  let moving: Promise<void> | undefined;
  let upgrade: UpgradeState | undefined;
  const stopping = new AbortController();
  const report = (state: UpgradeState | undefined): void => void (upgrade = state);

  const start = async (): Promise<StartedServer> => {
    const { place, days } = await prepareCluster(lock.dataDir, { report, logger, signal: stopping.signal });
    const started = await startServer(place);
    const { cluster, account } = place.home;
    logger.info('embedded database is running', { pid: started.pid, cluster, user: account.name });
    running = started;
    void started.exited.then((lastWords) => {
      running = undefined;
      if (stopping.signal.aborted) return;
      logger.error('embedded database ended unexpectedly', { reason: lastWords });
      onUnexpectedEnd(new Error(lastWords));
    });
    if (days !== undefined) moving ??= moveDays(days, ensureRunning).finally(() => (moving = undefined));
    return started;
  };

  const ensureRunning = async (): Promise<PostgresAddress> => {
    if (stopping.signal.aborted) throw new Error('could not start the embedded database: Weir is stopping');
    if (running) return running.address;
    starting ??= start().finally(() => (starting = undefined));
    return (await starting).address;
  };

  return {
    ensureRunning,
    upgrade: () => upgrade,
    pid: () => running?.pid,
    async stop(withinMs = STOP_MS) {
      const untilMs = performance.now() + withinMs;
      stopping.abort();
      await starting?.catch(() => undefined); // The caller receives the error.
      await Promise.all([moving, running?.stop(untilMs - performance.now())]);
    },
  };
}
