/**
 * A port of one stream protocol, with the code that all protocols share: admission, limits, idle timeouts and closing.
 */
import type { Socket } from 'node:net';
import type { Peer } from '../../shared/net/stream-greetings.ts';
import { Admission } from './admission.ts';
import type { AdmissionParts } from './admission.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { LINGER_MS, OpenConnections } from './open-connections.ts';
import { listenOnAll } from './stream-port.ts';
import type { StreamAddresses, StreamPort } from './stream-port.ts';

/** Addresses on which to listen, and the checks of connections. */
export interface ListenOptions extends StreamAddresses {
  readonly limit: ConnectionLimit;
  readonly admission: AdmissionParts;
  readonly idleTimeoutMs?: number;
}

/** Handles an admitted connection, and adds its own connection object to `open`. */
export type HandleClient = (socket: Socket, peer: Peer, open: OpenConnections) => void;

/** Listens on every address. Throws a ListenError. */
export async function listenForClients(options: ListenOptions, take: HandleClient): Promise<StreamPort> {
  const open = new OpenConnections(options.idleTimeoutMs);
  const admission = new Admission(options.admission, options.limit, open);
  try {
    const port = await listenOnAll(options, (socket) =>
      admission.admit(socket, (peer) => take(socket, peer, open)),
    );
    const close = async (lingers = false): Promise<void> => {
      const closed = port.close();
      // The PROXY header of an accepted connection, and its first query, may still be in transit.
      if (lingers) setTimeout(() => admission.close(), LINGER_MS).unref();
      else admission.close();
      open.close(lingers);
      await closed;
    };
    return { addresses: port.addresses, close };
  } catch (error) {
    open.close();
    throw error;
  }
}
