/**
 * Queries to one server over a byte stream (RFC 7766): connections stay open and are reused, queries are pipelined, and
 * answers are accepted in any order, matched by an id that is unique on its connection and by the exact question. The
 * caller opens connections: TCP, or TLS with the same code.
 */
import { connect } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import type { Clock } from '../../../shared/clock.ts';
import { FrameReader, FrameWriter } from '../../../shared/dns/framing.ts';
import { FlagsHigh, Header, readU16 } from '../../../shared/dns/wire.ts';
import { isBareRefusal } from './edns-refusal.ts';
import { ownRecord } from '../capability/capabilities.ts';
import { EdnsExchange, EdnsSupport } from './edns-support.ts';
import type {
  Exchange,
  ExchangeDone,
  ExchangeOutcome,
  ServerAddress,
  ServerConnections,
} from './exchange.ts';
import { errorDetail, lossOf, outcomeOf } from './exchange.ts';
import { LearnedLimits } from '../connections/learned-limits.ts';
import { ConnectionTraffic } from '../connections/connection-traffic.ts';
import { type ConnectionEvents, KeptConnections } from './kept-connections.ts';
import { isSilent, type KeptConnection, KeptQuery } from './kept-query.ts';
import type { Question } from '../response/question.ts';
import { encodeQuery, randomQueryId } from '../response/question.ts';
import { readResponse } from '../response/response-reader.ts';

/** Number of queries in flight on one connection above which another connection is opened. */
const MAX_IN_FLIGHT = 256;
/** Maximum number of connections to one server. */
const MAX_CONNECTIONS = 8;
/** Number of cancelled ids after which a connection takes no more queries. */
const MAX_ABANDONED = 1024;
/** Number of unsolicited responses after which a connection is closed. */
const MAX_STRAYS = 64;

/** Shared by all connections of this thread: each connection processes its bytes before the next connection reads. */
const READ_BUFFER = Buffer.allocUnsafeSlow(65_536);

/** How connections to a server are opened, and the form of the messages. */
export interface StreamKind {
  /** Opens a connection that is read by `onread`; the connection may still be connecting when `open` returns. */
  open(server: ServerAddress, onread: OnReadOpts): Socket;
  /** Queries are padded to a multiple of this many octets; 0 = no padding. */
  readonly padTo: number;
  /** Connections are closed after this time without traffic (RFC 7766 section 6.2.3 does not define the value). */
  readonly idleTimeoutMs: number;
}

/** Plain TCP connections. */
export const TCP_STREAM: StreamKind = {
  open: ({ ip, port, family }, onread) => connect({ host: ip, port, family, noDelay: true, onread }),
  padTo: 0,
  idleTimeoutMs: 10_000,
};

class StreamQuery extends KeptQuery<StreamConnection> {
  /** Whether the query has an OPT record, see `QueryForm`. */
  readonly edns: boolean;
  id = 0;

  constructor(question: Question, done: ExchangeDone, edns: boolean) {
    super(question, done);
    this.edns = edns;
  }
}

/** All connections to one server. */
export class StreamUpstream implements ServerConnections {
  private readonly edns: EdnsSupport;
  private readonly connections: KeptConnections<StreamQuery, StreamConnection>;

  constructor(
    server: ServerAddress,
    kind: StreamKind,
    clock: Clock,
    edns = new EdnsSupport(ownRecord(clock)),
  ) {
    this.edns = edns;
    const limits = new LearnedLimits(clock, edns.record);
    this.connections = new KeptConnections({
      max: MAX_CONNECTIONS,
      clock,
      limits,
      open: (events) => new StreamConnection(server, { kind, clock, limits }, events),
    });
  }

  /** Sends a query on a connection with free capacity, or on a new one. */
  ask(question: Question, done: ExchangeDone): Exchange {
    return new EdnsExchange(this.edns, (edns, ended) => this.askOnce(question, edns, ended), done);
  }

  close(): void {
    this.connections.close();
  }

  private askOnce(question: Question, edns: boolean, done: ExchangeDone): Exchange {
    return this.connections.ask((ended) => new StreamQuery(question, ended, edns), done);
  }
}

interface StreamParts {
  readonly kind: StreamKind;
  readonly clock: Clock;
  readonly limits: LearnedLimits;
}

class StreamConnection implements KeptConnection<StreamQuery> {
  readonly capacity = MAX_IN_FLIGHT;
  readonly traffic: ConnectionTraffic;
  private readonly socket: Socket;
  private readonly parts: StreamParts;
  private strays = 0;
  private readonly queries = new Map<number, StreamQuery>();
  /** Ids whose answers may still arrive; they are never used again on this connection. */
  private readonly abandoned = new Set<number>();
  private readonly frames = new FrameReader((message) => this.receive(message));
  private readonly out = new FrameWriter();
  private isFlushing = false;
  private readonly events: ConnectionEvents<StreamQuery>;
  private ended = false;
  /** Whether this side closed the connection, not the server. */
  private isGivenUp = false;
  private detail = 'connection closed';

  constructor(server: ServerAddress, parts: StreamParts, events: ConnectionEvents<StreamQuery>) {
    // `onread` replaces the readable stream, which would double the allocations per answer.
    const socket = parts.kind.open(server, {
      buffer: READ_BUFFER,
      callback: (size) => {
        this.frames.push(READ_BUFFER.subarray(0, size));
        return true;
      },
    });
    this.socket = socket;
    this.parts = parts;
    this.traffic = new ConnectionTraffic(parts.clock);
    this.events = events;
    socket.setTimeout(parts.kind.idleTimeoutMs, () => this.destroy());
    socket.on('error', (error) => {
      this.detail = errorDetail(error);
    });
    // A server that has closed its side of the connection sends no more answers.
    socket.on('end', () => this.close());
    socket.on('close', () => this.end());
  }

  get isOpen(): boolean {
    return !this.ended && this.abandoned.size < MAX_ABANDONED;
  }

  get inFlight(): number {
    return this.queries.size;
  }

  send(query: StreamQuery): void {
    let id = randomQueryId();
    while (this.queries.has(id) || this.abandoned.has(id)) id = (id + 1) & 0xffff;
    query.id = id;
    query.connection = this;
    this.traffic.noteSent(query);
    this.queries.set(id, query);
    const form = { edns: query.edns, marks: null, padTo: this.parts.kind.padTo };
    this.out.add(encodeQuery(query.question, id, form));
    if (this.isFlushing) return;
    this.isFlushing = true;
    process.nextTick(this.flush);
  }

  /** Sends the queries of one turn in one piece. */
  private readonly flush = (): void => {
    this.isFlushing = false;
    const frames = this.out.take();
    if (frames !== null && this.socket.writable) this.socket.write(frames);
  };

  abandon(query: StreamQuery): void {
    if (!this.queries.delete(query.id)) return;
    this.abandoned.add(query.id);
    // The next query should use a new connection.
    const isGone = isSilent(query, this.traffic, this.parts.clock.monotonicMs());
    if (isGone || this.abandoned.size >= MAX_ABANDONED) this.retire();
    this.events.left(query);
  }

  destroy(): void {
    this.isGivenUp = true;
    this.close();
  }

  private close(): void {
    this.ended = true;
    this.socket.destroy();
  }

  private retire(): void {
    this.ended = true;
    if (this.queries.size === 0) this.socket.destroy();
  }

  private end(): void {
    this.ended = true;
    const orphans = [...this.queries.values()];
    this.queries.clear();
    this.events.closed();
    const { openedMs, received, lastReceivedMs } = this.traffic;
    if (orphans.length > 0 && received > 0 && !this.isGivenUp)
      this.parts.limits.noteEarlyEnd(received, openedMs, lastReceivedMs);
    for (const query of orphans) {
      query.connection = null;
      this.events.left(query);
      if (received > 0) this.events.lost(query, this.detail, true);
      else query.done(lossOf(this.detail));
    }
  }

  private receive(message: Uint8Array): boolean {
    // A message that is not a response means that the framing is lost.
    if (!isResponse(message)) return this.giveUp();
    const id = readU16(message, Header.ID);
    if (this.abandoned.delete(id)) {
      this.traffic.noteReceived();
      return true;
    }
    const query = this.queries.get(id);
    if (query === undefined) return ++this.strays <= MAX_STRAYS || this.giveUp();
    this.traffic.noteReceived();
    this.queries.delete(id);
    query.connection = null;
    if (this.ended && this.queries.size === 0) this.socket.destroy();
    this.events.left(query);
    query.done(outcomeFor(query, message));
    return true;
  }

  private giveUp(): false {
    this.detail = 'malformed response';
    this.destroy();
    return false;
  }
}

function outcomeFor({ question, edns }: StreamQuery, message: Uint8Array): ExchangeOutcome {
  if (edns && isBareRefusal(message)) return { kind: 'refused' };
  return outcomeOf(readResponse(message, question), edns);
}

function isResponse(message: Uint8Array): boolean {
  if (message.length < Header.SIZE) return false;
  return (message[Header.FLAGS_HIGH]! & (FlagsHigh.QR | FlagsHigh.OPCODE)) === FlagsHigh.QR;
}
