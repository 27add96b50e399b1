/** DNS over TCP and over TLS: one worker's listeners for messages with a length prefix (RFC 7766, RFC 7858). */
import type { Socket } from 'node:net';
import { Protocol } from '../../shared/query-log.ts';
import { listenForClients } from './client-port.ts';
import type { ListenOptions } from './client-port.ts';
import type { OpenConnections } from './open-connections.ts';
import type { StreamHandler } from './stream-connection.ts';
import type { StreamAccess } from './stream-access.ts';
import { StreamConnection } from './stream-connection.ts';
import type { StreamPort } from './stream-port.ts';
import type { TlsSide } from './tls-side.ts';

/** RFC 7858 section 3.1: the name of DNS over TLS in ALPN. */
export const DOT_PROTOCOLS: readonly string[] = ['dot'];

/** Listens for DNS over TCP. Throws a ListenError. */
export function listenTcp(options: ListenOptions, handler: StreamHandler): Promise<StreamPort> {
  return listenForClients(options, (socket, peer, open) =>
    serve(socket, { ...peer, protocol: Protocol.tcp }, handler, open),
  );
}

/** Listens for DNS over TLS. Throws a ListenError. */
export function listenDot(
  options: ListenOptions & { readonly tls: TlsSide; readonly mayHandshake: StreamAccess['mayHandshake'] },
  handler: StreamHandler,
): Promise<StreamPort> {
  return listenForClients(options, (socket, peer, open) =>
    options.tls.secureNamed(socket, peer.address, {
      mayHandshake: (clientKey) => options.mayHandshake(peer.address, clientKey),
      take: (secured, clientKey) =>
        serve(secured, { ...peer, protocol: Protocol.dot, clientKey }, handler, open),
    }),
  );
}

function serve(
  socket: Socket,
  peer: ConstructorParameters<typeof StreamConnection>[1],
  handler: StreamHandler,
  open: OpenConnections,
): void {
  const connection = new StreamConnection(socket, peer, handler);
  open.add(connection);
  socket.on('close', () => open.delete(connection));
}
