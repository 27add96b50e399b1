/**
 * One connection of DNS over HTTPS, for both versions of HTTP: its limits for requests in flight, and each request from
 * its body to its answer. `doh.ts` implements HTTP.
 */
import type { Readable } from 'node:stream';
import { Header } from '../../shared/dns/wire.ts';
import { Protocol } from '../../shared/query-log.ts';
import { dohFields, MAX_DOH_QUERY_SIZE } from '../../shared/dns/doh-target.ts';
import type { DohTarget } from '../../shared/dns/doh-target.ts';
import type { OpenConnection } from './open-connections.ts';
import { MAX_QUERIES, MAX_QUERIES_IN_FLIGHT } from './stream-connection.ts';
import type { StreamHandler } from './stream-connection.ts';

/** The response of one request. */
export interface DohResponse {
  readonly client: Uint8Array;
  /** Sends a response; does nothing if the client has disconnected. */
  end(status: number, fields: Readonly<Record<string, string | number>>, body?: Uint8Array): void;
}

/** Ways to end a connection. */
export interface ConnectionEnd {
  /** Closes the connection after written data is sent. */
  finish(): void;
  destroy(): void;
  /** Asks the client to use another connection, if the protocol has a separate message for that. */
  retire?(): void;
}

/** Maximum size of all incomplete bodies of a connection, in bytes. */
export const MAX_BUFFERED = 64 * 1024;
const NO_BODY = new Uint8Array(0);

/** A connection from its handshake to its close. */
export class DohConnection implements OpenConnection {
  lastActiveMs = performance.now();
  inFlight = 0;
  private taken = 0;
  private buffered = 0;
  /** Whether the client has been asked to use another connection. */
  isRetired = false;
  private isLast = false;
  private readonly end: ConnectionEnd;
  private readonly handler: StreamHandler;
  private readonly maxQueries: number;

  constructor(end: ConnectionEnd, handler: StreamHandler, maxQueries = MAX_QUERIES) {
    this.end = end;
    this.handler = handler;
    this.maxQueries = maxQueries;
  }

  finish(): void {
    this.isLast = true;
    if (this.inFlight === 0) this.end.finish();
  }

  destroy(): void {
    this.end.destroy();
  }

  retire(): void {
    this.isRetired = true;
    this.end.retire?.();
  }

  /** Answers a request whose body has not been read yet. */
  take(target: DohTarget, body: Readable, response: DohResponse): void {
    if (target.kind === 'body') {
      this.collect(body, response, (message) => this.answer(target, message, response));
    } else {
      this.discard(body);
      this.answer(target, NO_BODY, response);
    }
  }

  /** Answers a request with its complete body. */
  answer(target: DohTarget, body: Uint8Array, response: DohResponse): void {
    if (target.kind === 'refused')
      response.end(target.status, target.status === 405 ? { allow: 'GET, POST' } : {});
    else this.ask(target.kind === 'message' ? target.message : body, target.clientKey, response);
  }

  private collect(body: Readable, response: DohResponse, use: (message: Uint8Array) => void): void {
    const chunks: Buffer[] = [];
    let size = 0;
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      this.buffered += chunk.length;
      chunks.push(chunk);
      if (size <= MAX_DOH_QUERY_SIZE && this.buffered <= MAX_BUFFERED) return;
      body.removeAllListeners('data').removeAllListeners('end');
      this.discard(body);
      response.end(413, {});
    });
    body.once('end', () => use(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    body.once('close', () => (this.buffered -= size));
  }

  /** Reads the rest of an unwanted body; closes the connection if the client keeps sending. */
  private discard(body: Readable): void {
    let size = 0;
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BUFFERED) this.destroy();
    });
  }

  private ask(message: Uint8Array, clientKey: string, response: DohResponse): void {
    if (message.length < Header.SIZE || message.length > MAX_DOH_QUERY_SIZE) {
      response.end(message.length < Header.SIZE ? 400 : 413, {});
      return;
    }
    // Cancelled requests also count until they are answered (CVE-2023-44487).
    if (this.isLast || this.inFlight >= MAX_QUERIES_IN_FLIGHT) {
      response.end(429, { 'retry-after': 1 });
      return;
    }
    this.lastActiveMs = performance.now();
    this.inFlight++;
    this.taken++;
    this.handler(message, {
      address: response.client,
      protocol: Protocol.doh,
      clientKey,
      send: (reply) => {
        response.end(200, dohFields(reply), Buffer.from(reply));
        this.answered();
      },
      drop: () => {
        response.end(400, {});
        this.answered();
      },
    });
    if (this.taken === this.maxQueries) this.finish();
  }

  private answered(): void {
    this.inFlight--;
    this.lastActiveMs = performance.now();
    if (this.isLast) this.finish();
  }
}
