/** The response to one query over HTTPS (RFC 8484 section 4.2): collects and interprets its HTTP/2 stream. */
import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { nodeHttp2 } from '../../../shared/lazy-builtins.ts';
import { MAX_MESSAGE_SIZE, readU32, writeU32 } from '../../../shared/dns/wire.ts';
import type { CacheableAnswer } from '../response/cacheable-answer.ts';
import { isBareRefusal } from './edns-refusal.ts';
import type { ExchangeOutcome } from './exchange.ts';
import { outcomeOf } from './exchange.ts';
import type { Question } from '../response/question.ts';
import { readResponse } from '../response/response-reader.ts';

/** Media type of queries and responses (RFC 8484 section 6). */
export const MEDIA_TYPE = 'application/dns-message';

/** `refused`: the server did not process the query; `reset`: the stream or its session failed. */
export type StreamOutcome = ExchangeOutcome | 'refused' | 'reset';
type StreamEnd = (outcome: StreamOutcome) => void;

/** Question, and whether it was sent with EDNS. */
interface HttpsQuestion {
  readonly question: Question;
  readonly edns: boolean;
}

/** Collects the response on one stream, within limits, and calls `end` once. */
export class HttpsResponse {
  private readonly stream: ClientHttp2Stream;
  private readonly query: HttpsQuestion;
  private readonly end: StreamEnd;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private ageSecs = 0;
  /** Reason why the response is unusable, if known. */
  private fault: ExchangeOutcome | null = null;
  private whole = false;

  constructor(stream: ClientHttp2Stream, query: HttpsQuestion, end: StreamEnd) {
    this.stream = stream;
    this.query = query;
    this.end = end;
    stream.on('response', (headers) => this.onResponse(headers));
    stream.on('data', (chunk: Buffer) => this.onData(chunk));
    stream.on('end', () => {
      this.whole = true;
    });
    stream.on('close', () => this.onClose());
  }

  private onResponse(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[':status'] ?? 0;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (status < 200 || status > 299) this.refuse('network', `HTTP ${String(status)}`);
    else if (type !== MEDIA_TYPE) this.refuse('malformed', `response has type ${type ?? 'unknown'}`);
    const ageSecs = Number(headers.age ?? 0);
    if (Number.isSafeInteger(ageSecs) && ageSecs > 0) this.ageSecs = ageSecs;
  }

  private onData(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > MAX_MESSAGE_SIZE) this.refuse('malformed', 'response is too large');
    else if (this.fault === null) this.chunks.push(chunk);
  }

  private refuse(reason: 'network' | 'malformed', detail: string): void {
    this.fault ??= { kind: 'failed', reason, detail };
    this.chunks.length = 0;
    this.stream.close(nodeHttp2().constants.NGHTTP2_CANCEL);
  }

  private onClose(): void {
    const { rstCode } = this.stream;
    if (this.fault !== null) this.end(this.fault);
    else if (rstCode === nodeHttp2().constants.NGHTTP2_REFUSED_STREAM) this.end('refused');
    else if (this.whole && this.size > 0) this.end(this.read());
    else this.end('reset');
  }

  private read(): ExchangeOutcome {
    const message = Buffer.concat(this.chunks, this.size);
    const { question, edns } = this.query;
    if (edns && isBareRefusal(message)) return { kind: 'refused' };
    const outcome = outcomeOf(readResponse(message, question), edns);
    return outcome.kind === 'answer' ? { ...outcome, answer: aged(outcome.answer, this.ageSecs) } : outcome;
  }
}

/** An answer that an HTTP cache has stored for `ageSecs`, with its TTLs counted down (RFC 8484 section 5.1). */
function aged(answer: CacheableAnswer, ageSecs: number): CacheableAnswer {
  if (ageSecs === 0) return answer;
  for (const at of answer.ttlOffsets) {
    writeU32(answer.body, at, Math.max(0, readU32(answer.body, at) - ageSecs));
  }
  return { ...answer, minTtlSecs: Math.max(0, answer.minTtlSecs - ageSecs) };
}
