/**
 * One client connection that carries DNS messages over a byte stream (RFC 7766), TCP or TLS alike: framing, pipelining
 * with answers in any order, bounds on queries in flight and in its life, backpressure, half-close and idleness.
 * `admission.ts` limits the number of connections.
 */
import { Protocol } from '../../shared/query-log.ts';
import type { ProtocolCode } from '../../shared/query-log.ts';
import type { Socket } from 'node:net';
import { FrameReader, frame } from '../../shared/dns/framing.ts';
import { Header } from '../../shared/dns/wire.ts';
import type { OpenConnection } from './open-connections.ts';

/** The other end of a connection, as handlers see it. */
export interface StreamClient {
  /** 16 bytes; IPv4 as ::ffff:a.b.c.d. */
  readonly address: Uint8Array;
  /** `Protocol` of `shared/query-log.ts`. */
  readonly protocol: ProtocolCode;
  /** By which the client named itself in the handshake or path, see `shared/dns/client-key.ts`; '' = it did not. */
  readonly clientKey: string;
  /** Sends the reply to one message, in any order; the bytes are copied. Does nothing once disconnected. */
  send(message: Uint8Array): void;
  /** Says that a message gets no reply. */
  drop(): void;
}

/**
 * Takes a message of at least 12 bytes; they are valid only during the call. Each message is answered by one `send` or
 * dropped; until then it counts as in flight.
 */
export type StreamHandler = (message: Uint8Array, client: StreamClient) => void;

/** Queries of one connection that wait for an answer; at this number reading pauses (CVE-2025-30193). */
export const MAX_QUERIES_IN_FLIGHT = 100;
/**
 * Queries of one connection in its life; it is then closed, and the client may open another. Queries that are on
 * their way get no answer, so a busy forwarder should see this rarely, and a load test never.
 */
export const MAX_QUERIES = 10_000_000;
/** Bytes of answers that the client has not received; beyond this no more queries are read. */
export const MAX_UNSENT_BYTES = 128 * 1024;

/** A connection from its acceptance to its end. */
export class StreamConnection implements StreamClient, OpenConnection {
  readonly address: Uint8Array;
  readonly protocol: ProtocolCode;
  readonly clientKey: string;
  /** When the last whole message arrived or the last answer left, milliseconds of the monotonic clock. */
  lastActiveMs = performance.now();
  inFlight = 0;

  private readonly socket: Socket;
  private readonly handler: StreamHandler;
  private readonly maxQueries: number;
  private readonly frames = new FrameReader((message) => this.take(message));
  private taken = 0;
  /** No more queries will be read: end once those in flight are answered. */
  private isLast = false;
  /** Answers to send at the end of the chunk or turn, and their bytes. */
  private out: Uint8Array[] = [];
  private unsent = 0;
  private isFlushing = false;

  constructor(
    socket: Socket,
    peer: {
      readonly address: Uint8Array;
      readonly protocol: ProtocolCode;
      readonly clientKey?: string;
    },
    handler: StreamHandler,
    maxQueries = MAX_QUERIES,
  ) {
    this.address = peer.address;
    this.protocol = peer.protocol;
    this.clientKey = peer.clientKey ?? '';
    this.socket = socket;
    this.handler = handler;
    this.maxQueries = maxQueries;
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('drain', () => this.readMore());
    // A client that has closed its half still gets its answers (RFC 7766 section 6.2.4 allows either).
    socket.on('end', () => this.finish());
    // The error itself does not matter: 'close' follows.
    socket.on('error', () => undefined);
  }

  send(message: Uint8Array): void {
    this.inFlight--;
    this.lastActiveMs = performance.now();
    if (!this.socket.writable) return;
    this.out.push(frame(message));
    this.unsent += message.length;
    this.flushSoon();
    if (this.isLast) this.finish();
    else this.readMore();
  }

  drop(): void {
    this.inFlight--;
    if (this.isLast) this.finish();
    else this.readMore();
  }

  /** Reads no more queries and closes as soon as those in flight are answered. */
  finish(): void {
    this.isLast = true;
    if (this.inFlight > 0) this.socket.pause();
    else {
      this.flush();
      this.close();
    }
  }

  /** Of a client that has ended, and whose answers the kernel has, both halves are closed at once: a fifth cheaper. */
  private close(): void {
    const { socket } = this;
    const isOver = socket.readableEnded && socket.writableLength === 0;
    // The end of TLS is a message (RFC 8446 section 6.1).
    if (isOver && this.protocol === Protocol.tcp) socket.destroy();
    else socket.destroySoon();
  }

  /** Closes at once. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Answers that need no waiting go out in one piece when all of the chunk is read. */
  private read(chunk: Buffer): void {
    this.isFlushing = true;
    try {
      this.frames.push(chunk);
    } finally {
      this.isFlushing = false;
      this.flush();
      this.readMore();
    }
  }

  private take(message: Uint8Array): boolean {
    if (message.length < Header.SIZE) {
      // It cannot be answered, and what follows is not DNS either.
      this.destroy();
      return false;
    }
    this.lastActiveMs = performance.now();
    this.inFlight++;
    this.taken++;
    this.handler(message, this);
    if (this.taken >= this.maxQueries) this.finish();
    if (this.mayRead) return true;
    this.socket.pause();
    return false;
  }

  private get mayRead(): boolean {
    if (this.isLast || this.socket.destroyed) return false;
    return (
      this.inFlight < MAX_QUERIES_IN_FLIGHT && this.socket.writableLength + this.unsent < MAX_UNSENT_BYTES
    );
  }

  private readMore(): void {
    if (!this.mayRead || !this.socket.isPaused()) return;
    this.socket.resume();
    this.frames.resume();
  }

  /** Also joins the answers of one turn into one write. */
  private flushSoon(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    process.nextTick(() => {
      this.isFlushing = false;
      this.flush();
      this.readMore();
    });
  }

  private flush(): void {
    const { out, socket } = this;
    if (out.length === 0) return;
    this.out = [];
    this.unsent = 0;
    if (socket.writable) socket.write(out.length === 1 ? out[0]! : Buffer.concat(out));
  }
}
