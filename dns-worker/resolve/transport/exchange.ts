/** Types shared by transports, upstreams and question runs for asking one server once. */
import { isRefusal } from './edns-refusal.ts';
import type { Question } from '../response/question.ts';
import type { CacheableAnswer, ResponseReading } from '../response/cacheable-answer.ts';

/** Address and port of a server. */
export interface ServerAddress {
  /** IPv4 or IPv6 literal, canonical as the system prints it. */
  readonly ip: string;
  readonly port: number;
  readonly family: 4 | 6;
}

/** How asking one server ended, if it ended by itself. */
export type ExchangeOutcome =
  | { readonly kind: 'answer'; readonly answer: CacheableAnswer; readonly hasEdns?: boolean }
  /** TC was set: ask again over TCP. */
  | { readonly kind: 'truncated' }
  /** The server may not know EDNS (`edns-support.ts`): ask again without. */
  | { readonly kind: 'refused' }
  /** Someone guesses ids on the port of the question: ask over TCP, or from another port. */
  | { readonly kind: 'exposed' }
  /**
   * No answer can come any more. `unusable`: the response is readable but cannot be used; the domain may be the cause
   * (an endless chain, malformed data), so it does not count against the server. `local`: this machine had no port or
   * descriptor for the question; not the server's fault.
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
    // An answer can be longer than any message, so TC over a stream is not the server's fault either.
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

/** Errors of a machine that has run out of a resource. */
const LOCAL_SHORTAGES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'EAGAIN',
]);

/** The outcome of a connection or socket that was lost, `detail` being the `errorDetail` of the cause. */
export function lossOf(detail: string): ExchangeOutcome {
  return { kind: 'failed', reason: LOCAL_SHORTAGES.has(detail) ? 'local' : 'network', detail };
}

/** Whether the server was not reached. */
export function isLost(outcome: ExchangeOutcome): boolean {
  return outcome.kind === 'failed' && (outcome.reason === 'network' || outcome.reason === 'local');
}

/** Called at most once, never before the call that started the exchange has returned. */
export type ExchangeDone = (outcome: ExchangeOutcome) => void;

/** One question in flight to one server. It has no deadline: its caller cancels it. */
export interface Exchange {
  /** Whether it has had to wait for room on a connection: that it takes long is not for the server to answer for. */
  readonly wasQueued: boolean;
  /** Sends the same query again where the transport may lose it; does nothing elsewhere. */
  resend(): void;
  /** Cancels; `done` is not called any more. */
  cancel(): void;
}

/** Asks one server address over one transport, with its kept connections. */
export interface ServerConnections {
  /** The same server over TCP, if that is another way than the usual one. */
  readonly tcp?: ServerConnections;
  /** Asks once. */
  ask(question: Question, done: ExchangeDone): Exchange;
  /** Questions are asked of the server elsewhere: probes what is due. */
  keepUp?(): void;
  /** Closes every connection; questions in flight get no answer. */
  close(): void;
}

/** A web server without HTTP/2, in words. */
export const ONLY_HTTP1 = 'the server speaks HTTP/1.1 only, and is asked over HTTP/2';
/** The alert of a server that knows none of the protocols offered (RFC 7301 section 3.2); DoH alone offers one. */
const NO_COMMON_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';

/** The text of an error for `lastError`: its code if it has one, which `describeCode()` puts into words. */
export function errorDetail(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error.message;
  return code === NO_COMMON_PROTOCOL ? ONLY_HTTP1 : code;
}
