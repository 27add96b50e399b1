/**
 * Start of an accepted connection: reads the PROXY header if one is required, and rejects a header from a peer that
 * must not send one. The bytes after the header are put back into the socket. The caller enforces limits.
 */
import type { Socket } from 'node:net';
import type { RunLater } from '../counted-line.ts';
import { addressFromText } from './ip.ts';
import { couldBeProxyHeader, ProxyHeader, ProxyOutcome } from './proxy-header.ts';
import type { ProxySenders } from './proxy-senders.ts';

/** The other end of a connection. */
export interface Peer {
  /** Address of the peer, 16 bytes; IPv4 as ::ffff:a.b.c.d. */
  readonly address: Uint8Array;
  readonly port: number;
}

/** The client of a connection. */
export interface Client extends Peer {
  /**
   * Whether the connection began with a PROXY header, so that the peer is a load balancer, even if the header names no
   * client.
   */
  readonly isProxied: boolean;
}

/** Settings, and callbacks for connections that are not accepted. */
export interface GreetingParts {
  readonly senders: ProxySenders;
  readonly later: RunLater;
  /** Called if the header is malformed, missing or forged; the connection is closed. */
  readonly onBadHeader: (peer: Peer) => void;
  /** Called if too many connections have not sent their header; the oldest of them is closed. */
  readonly onOverflow: () => void;
}

/** Time limit for a PROXY header, which is usually in the first segment. */
const HEADER_TIMEOUT_MS = 3000;
/** Maximum number of connections that wait for their first bytes. */
const MAX_AWAITED = 256;
/** The first byte of a PROXY header: no TLS handshake and no valid query starts with it. */
const FIRST_OF_HEADER = 0x0d;

/** Reads the first bytes of connections to one or more listeners. */
export class StreamGreetings {
  private readonly parts: GreetingParts;
  private readonly header = new ProxyHeader();
  /** Connections that wait for their first bytes, oldest first. */
  private readonly awaited = new Set<Socket>();

  constructor(parts: GreetingParts) {
    this.parts = parts;
  }

  /**
   * Calls `take` when the client of the connection is known; closes the connection if the client cannot be determined.
   */
  greet(socket: Socket, take: (client: Client) => void): void {
    const peer = peerOf(socket);
    // The caller of `greet` handles errors after `take`; before `take`, nothing depends on the connection.
    socket.on('error', () => undefined);
    if (peer === null) {
      socket.destroy();
      return;
    }
    switch (this.parts.senders.ofStream(peer.address)) {
      case 'nothing':
        take({ ...peer, isProxied: false });
        break;
      case 'header':
        this.await(socket, peer, (bytes) => this.readHeader(bytes, socket, peer, take));
        break;
      case 'no header':
        this.await(socket, peer, (bytes) => this.readFirst(bytes, socket, peer, take));
        break;
    }
  }

  /** Closes all connections that wait for their first bytes. */
  close(): void {
    for (const socket of this.awaited) socket.destroy();
  }

  /** Reads the header; true if it is complete. Puts the bytes after the header back into the socket. */
  private readHeader(bytes: Buffer, socket: Socket, peer: Peer, take: (client: Client) => void): boolean {
    const { header } = this;
    const outcome = header.read(bytes, 0, bytes.length);
    if (outcome === ProxyOutcome.MORE) return false;
    if (outcome === ProxyOutcome.BAD) {
      this.refuse(socket, peer);
      return true;
    }
    const client = header.hasSource ? { address: header.source.slice(), port: header.sourcePort } : peer;
    if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
    take({ ...client, isProxied: true });
    return true;
  }

  /** Checks the first bytes; returns true if they show that the connection does not begin with a header. */
  private readFirst(bytes: Buffer, socket: Socket, peer: Peer, take: (client: Client) => void): boolean {
    if (bytes[0] === FIRST_OF_HEADER) {
      const could = couldBeProxyHeader(bytes);
      if (could === null) return false;
      if (could) {
        this.refuse(socket, peer);
        return true;
      }
    }
    socket.unshift(bytes);
    take({ ...peer, isProxied: false });
    return true;
  }

  /** Each time bytes arrive, calls `read` with all bytes so far, until `read` returns true. */
  private await(socket: Socket, peer: Peer, read: (bytes: Buffer) => boolean): void {
    let bytes: Buffer = Buffer.alloc(0);
    const done = (): void => {
      callOff();
      socket.off('readable', check).off('end', leave).off('close', done);
      this.awaited.delete(socket);
    };
    const leave = (): void => {
      done();
      // A connection without a single byte is usually a health check.
      if (bytes.length === 0) socket.destroy();
      else this.refuse(socket, peer);
    };
    const check = (): void => {
      const more = socket.read() as Buffer | null;
      if (more === null) return;
      bytes = bytes.length === 0 ? more : Buffer.concat([bytes, more]);
      if (read(bytes)) done();
    };
    this.makeRoom();
    this.awaited.add(socket);
    const callOff = this.parts.later(leave, HEADER_TIMEOUT_MS);
    socket.on('readable', check).once('end', leave).once('close', done);
  }

  /**
   * A load balancer sends its header immediately, so the connection that has been silent for the longest time is
   * closed.
   */
  private makeRoom(): void {
    const [oldest] = this.awaited;
    if (this.awaited.size < MAX_AWAITED || oldest === undefined) return;
    this.awaited.delete(oldest);
    oldest.destroy();
    this.parts.onOverflow();
  }

  private refuse(socket: Socket, peer: Peer): void {
    socket.destroy();
    this.parts.onBadHeader(peer);
  }
}

/** The peer of a socket; null if it has already disconnected. */
function peerOf(socket: Socket): Peer | null {
  const address = socket.remoteAddress === undefined ? null : addressFromText(socket.remoteAddress);
  return address === null ? null : { address, port: socket.remotePort ?? 0 };
}
