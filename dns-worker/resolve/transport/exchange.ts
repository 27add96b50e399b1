/** Types that transports, upstreams and question runs share, for a single query to one server. */
import { isRefusal } from './edns-refusal.ts';
import type { Question } from '../response/question.ts';
import type { CacheableAnswer, ResponseReading } from '../response/cacheable-answer.ts';

/** Address and port of a server. */
export interface ServerAddress {
  /** IPv4 or IPv6 literal in the form in which the system writes it. */
  readonly ip: string;
  readonly port: number;
  readonly family: 4 | 6;
}

/** The outcome of querying one server, unless it was cancelled. */
export type ExchangeOutcome =
  | { readonly kind: 'answer'; readonly answer: CacheableAnswer; readonly hasEdns?: boolean }
  /** The TC flag is set: retry over TCP. */
  | { readonly kind: 'truncated' }
  /** The server may not support EDNS (`edns-support.ts`): retry without EDNS. */
  | { readonly kind: 'refused' }
  /** A third party is guessing ids on the port of the query: query over TCP, or from another port. */
  | { readonly kind: 'exposed' }
  /**
   * No answer can arrive. `unusable`: the response is readable but cannot be used; the domain may be the cause (an
   * endless chain, malformed data), so it does not count against the server. `local`: this machine had no port or
   * descriptor for the query; not the server's fault.
   */
  | {
      readonly kind: 'failed';
      readonly reason: 'network' | 'malformed' | 'unusable' | 'local';
      readonly detail: string;
    };

/** The outcome of a response over an authentic channel; `edns` as in the query. A fault ends only this question. */
export function outcomeOf(reading: ResponseReading, edns: boolean): ExchangeOutcome {
  switch (reading.kind) {
    case 'answer':
      return edns && !reading.hasEdns && isRefusal(reading.answer.rcode) ? { kind: 'refused' } : reading;
    // The normalised answer may exceed the maximum message size, so a set TC flag over a stream is also not the
    // server's fault.
    case 'truncated':
      return { kind: 'failed', reason: 'unusable', detail: 'truncated' };
    case 'fault': {
      const { fault } = reading;
      const isGarbage = fault === 'malformed' || fault === 'not-a-response-to-this';
      if (isGarbage) return { kind: 'failed', reason: 'malformed', detail: 'malformed response' };
      return { kind: 'failed', reason: 'unusable', detail: fault };
    }
  }
}

/** Errors of a machine that lacks a resource. */
const LOCAL_SHORTAGES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'EAGAIN',
]);

/** The outcome if a connection or socket was lost; `detail` is the `errorDetail` of the cause. */
export function lossOf(detail: string): ExchangeOutcome {
  return { kind: 'failed', reason: LOCAL_SHORTAGES.has(detail) ? 'local' : 'network', detail };
}

/** Whether the exchange failed before any response arrived. */
export function isLost(outcome: ExchangeOutcome): boolean {
  return outcome.kind === 'failed' && (outcome.reason === 'network' || outcome.reason === 'local');
}

/** Called at most once, after the call that started the exchange has returned. */
export type ExchangeDone = (outcome: ExchangeOutcome) => void;

/** One question in flight to one server. It has no deadline: the caller cancels it. */
export interface Exchange {
  /** Whether the question had to wait for capacity on a connection, so that a long time is not the server's fault. */
  readonly wasQueued: boolean;
  /** Sends the same query again if the transport may lose it; does nothing with other transports. */
  resend(): void;
  /** Cancels the exchange; `done` is not called afterwards. */
  cancel(): void;
}

/** Queries one server address over one transport, and keeps its connections open. */
export interface ServerConnections {
  /** The same server over TCP, if TCP is not the usual transport. */
  readonly tcp?: ServerConnections;
  /** Sends one question. */
  ask(question: Question, done: ExchangeDone): Exchange;
  /** Called when another thread queries the server: starts probes that are due. */
  keepUp?(): void;
  /** Closes every connection; questions in flight remain without an answer. */
  close(): void;
}

/** Description of a web server without HTTP/2. */
export const ONLY_HTTP1 = 'the server supports only HTTP/1.1, but DoH needs HTTP/2';
/**
 * The alert of a server that supports none of the offered protocols (RFC 7301 section 3.2); only DoH offers a protocol.
 */
const NO_COMMON_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';

/** The text of an error for `lastError`: the error's code, if any, which `describeCode()` converts to words. */
export function errorDetail(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error.message;
  return code === NO_COMMON_PROTOCOL ? ONLY_HTTP1 : code;
}
