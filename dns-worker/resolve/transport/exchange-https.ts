/**
 * Queries to one server over HTTPS (RFC 8484). HTTP/2 sessions stay open and are reused; each query is a stream; the
 * numbers of sessions and streams are limited. `https-response.ts` reads the streams, `tls-stream.ts` opens the TLS
 * connection.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../shared/clock.ts';
import { nodeHttp2 } from '../../../shared/lazy-builtins.ts';
import type {
  Exchange,
  ExchangeDone,
  ExchangeOutcome,
  ServerAddress,
  ServerConnections,
} from './exchange.ts';
import { ownRecord } from '../capability/capabilities.ts';
import { EdnsExchange, EdnsSupport } from './edns-support.ts';
import { errorDetail, lossOf, ONLY_HTTP1 } from './exchange.ts';
import { HttpsResponse, MEDIA_TYPE, type StreamOutcome } from './https-response.ts';
import { LearnedLimits } from '../connections/learned-limits.ts';
import { ConnectionTraffic } from '../connections/connection-traffic.ts';
import { type ConnectionEvents, KeptConnections } from './kept-connections.ts';
import { isSilent, type KeptConnection, KeptQuery } from './kept-query.ts';
import type { Question } from '../response/question.ts';
import { encodeQuery } from '../response/question.ts';
import { PADDING_BLOCK } from './tls-stream.ts';

const IDLE_TIMEOUT_MS = 30_000;
/**
 * Maximum number of streams per session, if the server allows that many, and maximum number of sessions to one server.
 */
const MAX_STREAMS = 128;
const MAX_SESSIONS = 4;
const MAX_HEADER_BYTES = 16_384;
/** The end of a URL template for queries with GET (RFC 8484 section 4.1, RFC 6570). */
const GET_TEMPLATE = '{?dns}';

/** Address of a server, and the form of requests to it. */
export interface HttpsTarget {
  /** Host name, or address literal. */
  readonly host: string;
  readonly server: ServerAddress;
  /** Path and query; if it ends in `{?dns}`, queries are sent with GET. */
  readonly path: string;
  /** Opens a TLS connection for HTTP/2. */
  open(server: ServerAddress): TLSSocket;
}

class HttpsQuery extends KeptQuery<HttpsSession> {
  /** Whether the query has an OPT record, see `QueryForm`. */
  readonly edns: boolean;
  stream: ClientHttp2Stream | null = null;

  constructor(question: Question, done: ExchangeDone, edns: boolean) {
    super(question, done);
    this.edns = edns;
  }
}

/** All sessions to one server. */
export class HttpsUpstream implements ServerConnections {
  private readonly edns: EdnsSupport;
  private readonly sessions: KeptConnections<HttpsQuery, HttpsSession>;

  constructor(target: HttpsTarget, clock: Clock, edns = new EdnsSupport(ownRecord(clock))) {
    this.edns = edns;
    this.sessions = new KeptConnections({
      max: MAX_SESSIONS,
      clock,
      limits: new LearnedLimits(clock, edns.record),
      open: (events) => new HttpsSession(target, clock, events),
    });
  }

  /** Sends a query on a session with free capacity, or on a new one. */
  ask(question: Question, done: ExchangeDone): Exchange {
    return new EdnsExchange(this.edns, (edns, ended) => this.askOnce(question, edns, ended), done);
  }

  close(): void {
    this.sessions.close();
  }

  private askOnce(question: Question, edns: boolean, done: ExchangeDone): Exchange {
    return this.sessions.ask((ended) => new HttpsQuery(question, ended, edns), done);
  }
}

class HttpsSession implements KeptConnection<HttpsQuery> {
  private readonly target: HttpsTarget;
  private readonly clock: Clock;
  private readonly events: ConnectionEvents<HttpsQuery>;
  readonly traffic: ConnectionTraffic;
  private readonly session: ClientHttp2Session;
  private streams = 0;
  private retired = false;
  private goneAway = false;
  private detail = 'connection closed';

  constructor(target: HttpsTarget, clock: Clock, events: ConnectionEvents<HttpsQuery>) {
    this.target = target;
    this.clock = clock;
    this.traffic = new ConnectionTraffic(clock);
    this.events = events;
    const { server } = target;
    const host = target.host.includes(':') ? `[${target.host}]` : target.host;
    const session = nodeHttp2().connect(`https://${host}:${String(server.port)}`, {
      createConnection: () => target.open(server),
      settings: { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES },
      maxSessionMemory: 4,
    });
    this.session = session;
    session.setTimeout(IDLE_TIMEOUT_MS, () => session.destroy());
    // Do not check the protocol earlier, on the socket: Node aborts if the socket closes before the session owns it.
    session.on('connect', (_session, socket) => {
      if ((socket as TLSSocket).alpnProtocol === 'h2') return;
      this.detail = ONLY_HTTP1;
      session.destroy();
    });
    session.on('remoteSettings', () => this.events.changed());
    session.on('goaway', () => {
      this.goneAway = true;
      this.retire();
    });
    session.on('error', (error) => {
      this.detail = errorDetail(error);
    });
    session.on('close', () => {
      this.retired = true;
      this.events.closed();
    });
  }

  get isOpen(): boolean {
    return !this.retired && !this.session.destroyed && !this.session.closed;
  }

  get inFlight(): number {
    return this.streams;
  }

  /** Streams that the server allows, or the default if the server has not announced a number. */
  get capacity(): number {
    const { connecting, remoteSettings } = this.session;
    const allowed = connecting ? MAX_STREAMS : remoteSettings.maxConcurrentStreams;
    return Math.min(MAX_STREAMS, allowed ?? MAX_STREAMS);
  }

  send(query: HttpsQuery): void {
    // RFC 8484 section 4.1: an id of 0 lets HTTP caches recognise identical queries.
    const message = encodeQuery(query.question, 0, { edns: query.edns, marks: null, padTo: PADDING_BLOCK });
    const stream = this.session.request(this.headers(message));
    query.connection = this;
    query.stream = stream;
    this.traffic.noteSent(query);
    this.streams++;
    stream.on('error', ({ cause }) => {
      // The error of the session is the cause; the reset of the stream has no details.
      if (cause !== undefined) this.detail = errorDetail(cause);
    });
    new HttpsResponse(stream, query, (outcome) => {
      const isReset = outcome === 'reset' && !this.session.destroyed;
      this.end(query, isReset ? resetOutcome(stream.rstCode) : outcome);
    });
    if (this.usesGet) stream.end();
    else stream.end(message);
  }

  abandon(query: HttpsQuery): void {
    if (isSilent(query, this.traffic, this.clock.monotonicMs())) this.retire();
    query.stream?.close(nodeHttp2().constants.NGHTTP2_CANCEL);
  }

  destroy(): void {
    this.session.destroy();
  }

  private get usesGet(): boolean {
    return this.target.path.endsWith(GET_TEMPLATE);
  }

  private headers(message: Buffer): Record<string, string | number> {
    const { path } = this.target;
    if (this.usesGet) {
      const encoded = message.toString('base64url');
      return { ':path': `${path.slice(0, -GET_TEMPLATE.length)}?dns=${encoded}`, accept: MEDIA_TYPE };
    }
    return {
      ':method': 'POST',
      ':path': path,
      accept: MEDIA_TYPE,
      'content-type': MEDIA_TYPE,
      'content-length': message.length,
    };
  }

  private end(query: HttpsQuery, outcome: StreamOutcome): void {
    this.streams--;
    const wasUseful = this.traffic.received > 0;
    // If the stream was cancelled here, the server did not cause its reset.
    if (typeof outcome === 'object' && query.connection !== null) this.traffic.noteReceived();
    if (this.retired && this.streams === 0) this.session.destroy();
    this.events.left(query);
    this.settle(query, outcome, wasUseful);
  }

  private settle(query: HttpsQuery, outcome: StreamOutcome, wasUseful: boolean): void {
    if (query.connection === null) return;
    query.connection = null;
    query.stream = null;
    if (typeof outcome === 'object') query.done(outcome);
    // After GOAWAY, REFUSED_STREAM, or the end of an idle session, the server did not process the query: send it again.
    else if (outcome === 'refused' || this.goneAway || wasUseful)
      this.events.lost(query, this.detail, wasUseful);
    else query.done(lossOf(this.detail));
  }

  private retire(): void {
    this.retired = true;
    if (this.streams === 0) this.session.destroy();
  }
}

function resetOutcome(rstCode: number): ExchangeOutcome {
  return { kind: 'failed', reason: 'network', detail: `stream reset (${String(rstCode)})` };
}
