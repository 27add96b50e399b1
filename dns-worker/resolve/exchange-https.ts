/**
 * Questions to one server over HTTPS (RFC 8484): HTTP/2 sessions are kept and reused, a question is a
 * stream, their number is bounded. The answer is validated as over any other transport: size, question, and
 * every record. Opening the TLS connection is `tls-stream.ts`.
 */
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from 'node:http2';
import { connect, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../shared/clock.ts';
import { MAX_MESSAGE_SIZE, readU32, writeU32 } from '../../shared/dns/wire.ts';
import type { CacheableAnswer } from './cacheable-answer.ts';
import type {
  Exchange,
  ExchangeDone,
  ExchangeOutcome,
  ServerAddress,
  ServerConnections,
} from './exchange.ts';
import { errorDetail, lossOf, outcomeOf } from './exchange.ts';
import {
  type ConnectionEvents,
  type KeptConnection,
  KeptConnections,
  type KeptQuery,
} from './kept-connections.ts';
import type { Question } from './question.ts';
import { encodeQuery } from './question.ts';
import { readResponse } from './response-reader.ts';
import { PADDING_BLOCK } from './tls-stream.ts';

const MEDIA_TYPE = 'application/dns-message';
const IDLE_TIMEOUT_MS = 30_000;
/** Streams of one session, where the server allows as many, and sessions to one server. */
const MAX_STREAMS = 128;
const MAX_SESSIONS = 4;
/** A session that brought nothing for so long while a question waited takes no more of them. */
const SILENCE_MS = 1000;
const MAX_HEADER_BYTES = 16_384;
/** The end of a URL template that has questions asked with GET (RFC 8484 section 4.1, RFC 6570). */
const GET_TEMPLATE = '{?dns}';

/** Where and how a server takes questions. */
export interface HttpsTarget {
  /** Host name, or address literal. */
  readonly host: string;
  readonly server: ServerAddress;
  /** Path and query; one that ends in `{?dns}` has questions asked with GET. */
  readonly path: string;
  /** Opens a connection that speaks HTTP/2. */
  open(server: ServerAddress): TLSSocket;
}

interface HttpsQuery extends KeptQuery {
  /** Null once over. */
  session: HttpsSession | null;
  stream: ClientHttp2Stream | null;
  sentMs: number;
  receivedBefore: number;
}

/** All sessions to one server. */
export class HttpsUpstream implements ServerConnections {
  readonly #sessions: KeptConnections<HttpsQuery, HttpsSession>;

  constructor(target: HttpsTarget, clock: Clock) {
    this.#sessions = new KeptConnections(MAX_SESSIONS, (events) => new HttpsSession(target, clock, events));
  }

  /** Asks on a session that has room, or on a new one. */
  ask(question: Question, done: ExchangeDone): Exchange {
    const query: HttpsQuery = {
      question,
      done,
      session: null,
      stream: null,
      sentMs: 0,
      receivedBefore: 0,
      retried: false,
      wasQueued: false,
    };
    const sessions = this.#sessions;
    sessions.assign(query);
    return {
      get wasQueued() {
        return query.wasQueued;
      },
      resend: () => undefined,
      cancel: () => {
        const { session } = query;
        query.session = null;
        if (session === null) sessions.withdraw(query);
        else session.abandon(query);
      },
    };
  }

  close(): void {
    this.#sessions.close();
  }
}

class HttpsSession implements KeptConnection<HttpsQuery> {
  readonly #target: HttpsTarget;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents<HttpsQuery>;
  readonly #session: ClientHttp2Session;
  #streams = 0;
  #received = 0;
  #retired = false;
  #goneAway = false;
  #detail = 'connection closed';

  constructor(target: HttpsTarget, clock: Clock, events: ConnectionEvents<HttpsQuery>) {
    this.#target = target;
    this.#clock = clock;
    this.#events = events;
    const { server } = target;
    const host = target.host.includes(':') ? `[${target.host}]` : target.host;
    const session = connect(`https://${host}:${String(server.port)}`, {
      createConnection: () => target.open(server),
      settings: { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES },
      maxSessionMemory: 4,
    });
    this.#session = session;
    session.setTimeout(IDLE_TIMEOUT_MS, () => session.destroy());
    // Not earlier, on the socket: Node aborts when that is gone before the session has it.
    session.on('connect', (_session, socket) => {
      if ((socket as TLSSocket).alpnProtocol === 'h2') return;
      this.#detail = 'the server does not speak HTTP/2';
      session.destroy();
    });
    session.on('remoteSettings', () => this.#events.changed());
    session.on('goaway', () => {
      this.#goneAway = true;
      this.#retire();
    });
    session.on('error', (error) => {
      this.#detail = errorDetail(error);
    });
    session.on('close', () => {
      this.#retired = true;
      this.#events.closed();
    });
  }

  get hasRoom(): boolean {
    if (this.#retired || this.#session.destroyed || this.#session.closed) return false;
    return this.#streams < this.capacity;
  }

  /** Streams that the server allows, as far as it has said so. */
  get capacity(): number {
    const { connecting, remoteSettings } = this.#session;
    const allowed = connecting ? MAX_STREAMS : remoteSettings.maxConcurrentStreams;
    return Math.min(MAX_STREAMS, allowed ?? MAX_STREAMS);
  }

  send(query: HttpsQuery): void {
    // RFC 8484 section 4.1: an id of 0 lets HTTP caches recognise the same question.
    const message = encodeQuery(query.question, 0, { edns: true, marks: null, padTo: PADDING_BLOCK });
    const stream = this.#session.request(this.#headers(message));
    query.session = this;
    query.stream = stream;
    query.sentMs = this.#clock.monotonicMs();
    query.receivedBefore = this.#received;
    this.#streams++;
    stream.on('error', ({ cause }) => {
      // What has befallen the session is the cause; a reset of the stream alone has none.
      if (cause !== undefined) this.#detail = errorDetail(cause);
    });
    new StreamReader(stream, query.question, (outcome) => {
      const isReset = outcome === 'reset' && !this.#session.destroyed;
      this.#end(query, isReset ? resetOutcome(stream.rstCode) : outcome);
    });
    if (this.#usesGet) stream.end();
    else stream.end(message);
  }

  abandon(query: HttpsQuery): void {
    const waitedMs = this.#clock.monotonicMs() - query.sentMs;
    const isSilent =
      this.#received === query.receivedBefore && (this.#received === 0 || waitedMs >= SILENCE_MS);
    if (isSilent) this.#retire();
    query.stream?.close(constants.NGHTTP2_CANCEL);
  }

  destroy(): void {
    this.#session.destroy();
  }

  get #usesGet(): boolean {
    return this.#target.path.endsWith(GET_TEMPLATE);
  }

  #headers(message: Buffer): Record<string, string | number> {
    const { path } = this.#target;
    if (this.#usesGet) {
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

  #end(query: HttpsQuery, outcome: StreamOutcome): void {
    this.#streams--;
    const wasUseful = this.#received > 0;
    if (typeof outcome === 'object') this.#received++;
    if (this.#retired && this.#streams === 0) this.#session.destroy();
    this.#events.left(query);
    this.#settle(query, outcome, wasUseful);
  }

  #settle(query: HttpsQuery, outcome: StreamOutcome, wasUseful: boolean): void {
    if (query.session === null) return;
    query.session = null;
    query.stream = null;
    if (typeof outcome === 'object') query.done(outcome);
    // GOAWAY, REFUSED_STREAM, or a session closed while idle: the server did not look at the question.
    else if (outcome === 'refused' || this.#goneAway || wasUseful) this.#events.refused(query, this.#detail);
    else query.done(lossOf(this.#detail));
  }

  #retire(): void {
    this.#retired = true;
    if (this.#streams === 0) this.#session.destroy();
  }
}

function resetOutcome(rstCode: number): ExchangeOutcome {
  return { kind: 'failed', reason: 'network', detail: `stream reset (${String(rstCode)})` };
}

/** `refused`: the server did not look at the question; `reset`: the stream or its session broke. */
type StreamOutcome = ExchangeOutcome | 'refused' | 'reset';
type StreamEnd = (outcome: StreamOutcome) => void;

/** Collects one response, within bounds. */
class StreamReader {
  readonly #stream: ClientHttp2Stream;
  readonly #question: Question;
  readonly #end: StreamEnd;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #ageSecs = 0;
  /** Why the response is no answer, once that is known. */
  #fault: ExchangeOutcome | null = null;
  #whole = false;

  constructor(stream: ClientHttp2Stream, question: Question, end: StreamEnd) {
    this.#stream = stream;
    this.#question = question;
    this.#end = end;
    stream.on('response', (headers) => this.#onResponse(headers));
    stream.on('data', (chunk: Buffer) => this.#onData(chunk));
    stream.on('end', () => {
      this.#whole = true;
    });
    stream.on('close', () => this.#onClose());
  }

  #onResponse(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[':status'] ?? 0;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (status < 200 || status > 299) this.#refuse('network', `HTTP ${String(status)}`);
    else if (type !== MEDIA_TYPE) this.#refuse('malformed', `answer is ${type ?? 'of no type'}`);
    const ageSecs = Number(headers.age ?? 0);
    if (Number.isSafeInteger(ageSecs) && ageSecs > 0) this.#ageSecs = ageSecs;
  }

  #onData(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > MAX_MESSAGE_SIZE) this.#refuse('malformed', 'answer is too large');
    else if (this.#fault === null) this.#chunks.push(chunk);
  }

  #refuse(reason: 'network' | 'malformed', detail: string): void {
    this.#fault ??= { kind: 'failed', reason, detail };
    this.#chunks.length = 0;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #onClose(): void {
    const { rstCode } = this.#stream;
    if (this.#fault !== null) this.#end(this.#fault);
    else if (rstCode === constants.NGHTTP2_REFUSED_STREAM) this.#end('refused');
    else if (this.#whole && this.#size > 0) this.#end(this.#read());
    else this.#end('reset');
  }

  #read(): ExchangeOutcome {
    const reading = readResponse(Buffer.concat(this.#chunks, this.#size), this.#question);
    if (reading.kind !== 'answer') return outcomeOf(reading);
    return { kind: 'answer', answer: aged(reading.answer, this.#ageSecs) };
  }
}

/** An answer that an HTTP cache kept so long, its TTLs counted down (RFC 8484 section 5.1). */
function aged(answer: CacheableAnswer, ageSecs: number): CacheableAnswer {
  if (ageSecs === 0) return answer;
  for (const at of answer.ttlOffsets) {
    writeU32(answer.body, at, Math.max(0, readU32(answer.body, at) - ageSecs));
  }
  return { ...answer, minTtlSecs: Math.max(0, answer.minTtlSecs - ageSecs) };
}
