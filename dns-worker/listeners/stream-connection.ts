/**
 * One client connection that carries DNS messages over a byte stream (RFC 7766), TCP or TLS alike: framing, pipelining
 * with answers in any order, a bound on queries in flight, backpressure, half-close and idleness. The listener
 * (`tcp.ts`) accepts connections and limits their number.
 */
import type { ProtocolCode } from '../../shared/query-log.ts';
import type { Socket } from 'node:net';
import { FrameReader, frame } from '../../shared/dns/framing.ts';
import { Header } from '../../shared/dns/wire.ts';

/** The other end of a connection, as handlers see it. */
export interface StreamClient {
  /** 16 bytes; IPv4 as ::ffff:a.b.c.d. */
  readonly address: Uint8Array;
  readonly port: number;
  /** `Protocol` of `shared/query-log.ts`. */
  readonly protocol: ProtocolCode;
  /** Sends the reply to one message, in any order; the bytes are copied. Does nothing once disconnected. */
  send(message: Uint8Array): void;
}

/**
 * Takes a message, 12 octets at least; the bytes are valid only during the call. Answer each message by one `send`; an
 * unanswered message counts as in flight until the connection idles.
 */
export type StreamHandler = (message: Uint8Array, client: StreamClient) => void;

/** Queries of one connection that wait for an answer; no more are read meanwhile (CVE-2025-30193). */
export const MAX_QUERIES_IN_FLIGHT = 100;
/** Octets of answers that the client has not received; beyond this no more queries are read. */
export const MAX_UNSENT_BYTES = 128 * 1024;

/** A connection from its acceptance to its end. */
export class StreamConnection implements StreamClient {
  readonly address: Uint8Array;
  readonly port: number;
  readonly protocol: ProtocolCode;
  /** When the last whole message arrived or the last answer left, milliseconds of the monotonic clock. */
  lastActiveMs = performance.now();

  private readonly socket: Socket;
  private readonly handler: StreamHandler;
  private readonly frames = new FrameReader((message) => this.take(message));
  private inFlight = 0;
  /** No more queries will be read: end once those in flight are answered. */
  private isLast = false;
  private corked = false;

  constructor(
    socket: Socket,
    peer: { readonly address: Uint8Array; readonly port: number; readonly protocol: ProtocolCode },
    handler: StreamHandler,
  ) {
    this.address = peer.address;
    this.port = peer.port;
    this.protocol = peer.protocol;
    this.socket = socket;
    this.handler = handler;
    socket.on('data', (chunk: Buffer) => this.frames.push(chunk));
    socket.on('drain', () => this.goOn());
    // A client that has closed its half still gets its answers (RFC 7766 section 6.2.4 allows either).
    socket.on('end', () => this.finish());
    // What went wrong does not matter: 'close' follows.
    socket.on('error', () => undefined);
  }

  send(message: Uint8Array): void {
    this.inFlight--;
    this.lastActiveMs = performance.now();
    if (!this.socket.writable) return;
    this.cork();
    this.socket.write(frame(message));
    if (this.isLast) this.finish();
    else this.goOn();
  }

  /** Reads no more queries and closes as soon as those in flight are answered. */
  finish(): void {
    this.isLast = true;
    if (this.inFlight <= 0) this.socket.destroySoon();
    else this.socket.pause();
  }

  /** Closes at once. */
  destroy(): void {
    this.socket.destroy();
  }

  private take(message: Uint8Array): boolean {
    if (message.length < Header.SIZE) {
      // It cannot be answered, and what follows is not DNS either.
      this.destroy();
      return false;
    }
    this.lastActiveMs = performance.now();
    this.inFlight++;
    this.handler(message, this);
    if (this.mayRead) return true;
    this.socket.pause();
    return false;
  }

  private get mayRead(): boolean {
    if (this.isLast || this.socket.destroyed) return false;
    return this.inFlight < MAX_QUERIES_IN_FLIGHT && this.socket.writableLength < MAX_UNSENT_BYTES;
  }

  private goOn(): void {
    if (!this.mayRead || !this.socket.isPaused()) return;
    this.socket.resume();
    this.frames.resume();
  }

  /** Answers of one turn go out in one system call. */
  private cork(): void {
    if (this.corked) return;
    this.corked = true;
    this.socket.cork();
    process.nextTick(() => {
      this.corked = false;
      this.socket.uncork();
    });
  }
}
