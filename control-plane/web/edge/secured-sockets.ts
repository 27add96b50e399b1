/** Finds the accepted socket below a TLS socket, which node:tls does not expose. */
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/** The sockets of one listener or several. */
export class SecuredSockets {
  /** Accepted sockets by the addresses and ports of both ends, which are the same for the TLS socket. */
  private readonly acceptedByEnds = new Map<string, Socket>();
  private readonly accepted = new WeakSet<Socket>();
  private readonly below = new WeakMap<Socket, Socket>();

  /** Watches a server, before all its existing listeners. */
  watch(server: HttpServer | HttpsServer): void {
    server.prependListener('connection', (socket: Socket) => {
      const ends = endsOf(socket);
      this.accepted.add(socket);
      this.acceptedByEnds.set(ends, socket);
      socket.once('close', () => {
        if (this.acceptedByEnds.get(ends) === socket) this.acceptedByEnds.delete(ends);
      });
    });
    server.prependListener('secureConnection', (socket: Socket) => {
      const below = this.accepted.has(socket) ? undefined : this.acceptedByEnds.get(endsOf(socket));
      if (below !== undefined) this.below.set(socket, below);
    });
  }

  /** The accepted socket below a socket, or the socket itself if it was accepted. */
  acceptedBelow(socket: Socket): Socket {
    return this.below.get(socket) ?? socket;
  }
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
