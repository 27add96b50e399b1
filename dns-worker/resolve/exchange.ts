/** The words that transports, upstreams and question runs share about asking one server once. */
import type { CacheableAnswer } from './response-reader.ts';

/** Where a server is reached. */
export interface ServerAddress {
  /** IPv4 or IPv6 literal, canonical as the system prints it. */
  readonly ip: string;
  readonly port: number;
  readonly family: 4 | 6;
}

/** How asking one server ended, if it ended by itself. */
export type ExchangeOutcome =
  | { readonly kind: 'answer'; readonly answer: CacheableAnswer }
  /** TC was set: ask again over TCP. */
  | { readonly kind: 'truncated' }
  /**
   * No answer can come any more. `unusable`: the response was well formed, but no answer to keep; that may
   * be the domain's doing (a chain without end) and is not held against the server.
   */
  | {
      readonly kind: 'failed';
      readonly reason: 'network' | 'malformed' | 'unusable';
      readonly detail: string;
    };

/** Called at most once, never before the call that started the exchange has returned. */
export type ExchangeDone = (outcome: ExchangeOutcome) => void;

/** One question under way to one server. It has no deadline of its own: whoever started it cancels it. */
export interface Exchange {
  /** Sends the same query again where the transport may lose it; does nothing elsewhere. */
  resend(): void;
  /** Gives up; `done` is not called any more. */
  cancel(): void;
}

/** The text of an error for `lastError`: its code where it has one. */
export function errorDetail(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
