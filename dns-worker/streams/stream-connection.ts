/**
 * One client connection with DNS messages over a byte stream (RFC 7766), for TCP and TLS: framing, pipelining with
 * answers in any order, limits for queries in flight and in total, backpressure, half-close and idle timeout.
 * `admission.ts` limits the number of connections.
 */
import { Protocol } from '../../shared/query-log.ts';
import type { ProtocolCode } from '../../shared/query-log.ts';
import type { Socket } from 'node:net';
import { FrameReader, frame } from '../../shared/dns/framing.ts';
import { Header } from '../../shared/dns/wire.ts';
import type { OpenConnection } from './open-connections.ts';

/** The other end of a connection, as seen by handlers. */
export interface StreamClient {
  /** Address of the client, 16 bytes; IPv4 as ::ffff:a.b.c.d. */
  readonly address: Uint8Array;
  /** Protocol of the connection (`Protocol` of `shared/query-log.ts`). */
  readonly protocol: ProtocolCode;
  /**
   * The key with which the client identified itself in the handshake or path, see `shared/dns/client-key.ts`; '' =
   * none.
   */
  readonly clientKey: string;
  /**
   * Sends the reply to one message, in any order; the bytes are copied. Does nothing after the client has disconnected.
   */
  send(message: Uint8Array): void;
  /** Reports that a message gets no reply. */
  drop(): void;
}

/**
 * Receives a message of at least 12 bytes, which is valid only during the call. Each message is answered by one `send`
 * or dropped; until then it counts as in flight.
 */
export type StreamHandler = (message: Uint8Array, client: StreamClient) => void;

/** Maximum number of queries in flight per connection; when it is reached, reading pauses (CVE-2025-30193). */
export const MAX_QUERIES_IN_FLIGHT = 100;
/**
 * Maximum number of queries per connection, after which the connection is closed; the client may open another. Queries
 * in transit at that moment get no answer, so the number is so high that a busy forwarder reaches it rarely, and a load
 * test never.
 */
export const MAX_QUERIES = 10_000_000;
/** Maximum number of bytes of answers that the client has not received; above this, no more queries are read. */
export const MAX_UNSENT_BYTES = 128 * 1024;

/** A connection from its acceptance to its close. */
export class StreamConnection implements StreamClient, OpenConnection {
  readonly address: Uint8Array;
  readonly protocol: ProtocolCode;
  readonly clientKey: string;
  /** When the last complete message arrived or the last answer was sent, in monotonic milliseconds. */
  lastActiveMs = performance.now();
  inFlight = 0;

  private readonly socket: Socket;
  private readonly handler: StreamHandler;
  private readonly maxQueries: number;
  private readonly frames = new FrameReader((message) => this.handle(message));
  private taken = 0;
  /** Whether no more queries are read: the connection ends after the queries in flight are answered. */
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
    // A client that has closed its side still gets its answers (RFC 7766 section 6.2.4 allows this).
    socket.on('end', () => this.finish());
    // Errors are ignored, because 'close' follows.
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

  /** Reads no more queries, and closes after the queries in flight are answered. */
  finish(): void {
    this.isLast = true;
    if (this.inFlight > 0) this.socket.pause();
    else {
      this.flush();
      this.close();
    }
  }

  /**
   * If the client has closed its side, and the kernel has all answers, both sides are closed in one step, which costs a
   * fifth less.
   */
  private close(): void {
    const { socket } = this;
    const isOver = socket.readableEnded && socket.writableLength === 0;
    // TLS ends with a closing message (RFC 8446 section 6.1).
    if (isOver && this.protocol === Protocol.tcp) socket.destroy();
    else socket.destroySoon();
  }

  /** Closes immediately. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Answers that are available immediately are sent together after the whole chunk is read. */
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

  private handle(message: Uint8Array): boolean {
    if (message.length < Header.SIZE) {
      // The message cannot be answered, and the following bytes are not DNS either.
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

  /** Sends the answers of one turn in one write. */
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
