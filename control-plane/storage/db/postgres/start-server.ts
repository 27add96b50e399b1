/** Starts the server of a cluster with the settings of its version, reachable only from this machine. */
import pg from 'pg';
import type { Logger } from '../../../../shared/log.ts';
import { DATABASE, ROLE, type PostgresAddress } from './postgres-address.ts';
import { madeBy, type PostgresHome } from './postgres-home.ts';
import { endOrphans, launchPostgres, type RunningPostgres } from './postgres-process.ts';
import { settingsOf, type PostgresSettings } from './postgres-settings.ts';
import { choosePostgresSocket } from './postgres-socket.ts';

/** Options for starting a server. */
export interface ServerPlace {
  readonly home: PostgresHome;
  /** Directory with `bin/postgres`, of the version that created the cluster. */
  readonly runtime: string;
  /** Password of the role. */
  readonly password: string;
  readonly logger: Logger;
  /** Aborts the start of the server. */
  readonly signal: AbortSignal;
  /**
   * Name of the directory for the socket in the home directory; servers that run at the same time need different ones.
   */
  readonly socketFolder?: string;
  /** Settings in addition to the common ones. */
  readonly settings?: PostgresSettings;
}

/** A server that accepts connections. */
export interface StartedServer extends RunningPostgres {
  readonly address: PostgresAddress;
}

/** Milliseconds for stopping a server that was used for one purpose. */
const STOP_MS = 2500;
/** Milliseconds for a connection. */
const CONNECT_MS = 5000;

/** Starts the server, after ending any processes that a killed Weir may have left on the cluster. */
export async function startServer(place: ServerPlace): Promise<StartedServer> {
  const { home, runtime, password, logger, signal } = place;
  await endOrphans(home.cluster, logger);
  const socket = await choosePostgresSocket(home, place.socketFolder);
  const settings = { ...settingsOf(madeBy(home)), ...place.settings, ...socket.settings };
  try {
    const { cluster, account } = home;
    const server = await launchPostgres({ runtime, cluster, account, settings, logger, signal });
    void server.exited.then(() => socket.cleanUp());
    const { host, port } = socket;
    return { ...server, address: { host, port, user: ROLE, password, database: DATABASE } };
  } catch (error) {
    socket.cleanUp();
    throw error;
  }
}

/**
 * Starts a server, runs `work` with a connection to it, and always stops the server. The signal ends the connection.
 */
export async function useServer<T>(place: ServerPlace, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const server = await startServer(place);
  try {
    return await useAddress(server.address, place.signal, work);
  } finally {
    await server.stop(STOP_MS);
  }
}

/** Runs `work` with a connection, which is closed when `work` has ended or the signal is aborted. */
export async function useAddress<T>(
  address: PostgresAddress,
  signal: AbortSignal,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...address, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => undefined); // A lost connection makes the current statement fail.
  const cut = (): void => void client.end().catch(() => undefined);
  await client.connect();
  signal.addEventListener('abort', cut, { once: true });
  try {
    signal.throwIfAborted();
    return await work(client);
  } finally {
    signal.removeEventListener('abort', cut);
    await client.end().catch(() => undefined); // The connection is no longer needed or has failed.
  }
}
