/** Listens on a Unix socket in the data directory, for the command line; serves the same as the web port. */
import type { Express } from 'express';
import { join } from 'node:path';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { admitLocally } from '../../api/local-requests.ts';
import { closeServer } from './server.ts';
import { listenPrivately } from '../../host/files/private-socket.ts';
import { SOCKET_NAME } from '../../api/socket-name.ts';

/** Maximum number of concurrent connections. */
const MAX_CONNECTIONS = 50;

/**
 * Listens on the socket, with mode 0600; returns a function that closes it. The caller holds the lock of the data
 * directory, so an existing socket is a leftover of a dead process. If the socket cannot be created, Weir logs that and
 * continues.
 */
export async function startLocalServer(
  app: Express,
  dataDir: string,
  logger: Logger,
): Promise<() => Promise<void>> {
  const path = join(dataDir, SOCKET_NAME);
  const server = nodeHttp().createServer(app);
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', admitLocally);
  try {
    await listenPrivately(server, path);
  } catch (error) {
    logger.warn('could not listen on the local socket; commands of the weir program need --url', {
      path,
      reason: reasonOf(error),
    });
    return async () => undefined;
  }
  server.on('error', (error) => logger.error('local listener failed', { path, reason: error.message }));
  return () => closeServer(server);
}
