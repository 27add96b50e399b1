/**
 * Admission of connections: reads the PROXY header of an accepted connection if one is required, and admits its client
 * within the limits. An admitted connection has the client's address: that of the peer, or the address in the header.
 */
import type { Socket } from 'node:net';
import { CountedLine } from '../../shared/counted-line.ts';
import type { RunLater } from '../../shared/counted-line.ts';
import type { Logger } from '../../shared/log.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { addressToText } from '../../shared/net/ip.ts';
import type { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { StreamGreetings } from '../../shared/net/stream-greetings.ts';
import type { Peer } from '../../shared/net/stream-greetings.ts';
import type { Reporter } from '../report/reporter.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import type { OpenConnections } from './open-connections.ts';

/** Checks of a connection, in addition to its limit. */
export interface AdmissionParts {
  /** Whether a connection from this address is allowed. */
  readonly mayConnect: (address: Uint8Array) => boolean;
  readonly senders: ProxySenders;
  readonly reporter: Pick<Reporter, 'count'>;
  readonly logger: Logger;
}

const later: RunLater = (work, delayMs) => {
  const timer = setTimeout(work, delayMs).unref();
  return () => clearTimeout(timer);
};

/** Admits the connections of one listener. */
export class Admission {
  private readonly reporter: Pick<Reporter, 'count'>;
  private readonly mayConnect: AdmissionParts['mayConnect'];
  private readonly limit: ConnectionLimit;
  private readonly open: OpenConnections;
  private readonly greetings: StreamGreetings;

  constructor(
    { senders, reporter, logger, mayConnect }: AdmissionParts,
    limit: ConnectionLimit,
    open: OpenConnections,
  ) {
    this.mayConnect = mayConnect;
    this.reporter = reporter;
    this.limit = limit;
    this.open = open;
    const badHeaders = new CountedLine(logger, 'closed connections: invalid or missing PROXY header', later);
    this.greetings = new StreamGreetings({
      senders,
      later,
      onBadHeader: ({ address }) => {
        reporter.count(Counter.PROXY_HEADERS_REFUSED);
        badHeaders.note({ last: addressToText(address) });
      },
      onOverflow: () => reporter.count(Counter.STREAMS_REFUSED),
    });
  }

  /** Calls `take` when the client is known, if it is within its limits; closes the connection if it is not. */
  admit(socket: Socket, take: (peer: Peer) => void): void {
    this.greetings.greet(socket, (client) => this.enter(socket, client, take));
  }

  /** Closes connections that are not admitted yet. */
  close(): void {
    this.greetings.close();
  }

  private enter(socket: Socket, peer: Peer, take: (peer: Peer) => void): void {
    // Check this first: a refused client must not displace a connection of an allowed client.
    if (!this.mayConnect(peer.address)) {
      socket.destroy();
      this.reporter.count(Counter.REFUSED_CLIENTS);
      return;
    }
    if (this.limit.isFull) this.open.makeRoom();
    if (!this.limit.enter(peer.address)) {
      socket.destroy();
      this.reporter.count(Counter.STREAMS_REFUSED);
      return;
    }
    socket.on('close', () => this.limit.leave(peer.address));
    take(peer);
  }
}
