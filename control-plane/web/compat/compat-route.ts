/**
 * Row of the compatibility API, and a request and an answer as it sees them: without Express, which only
 * `web/server/compat-app.ts` knows. Unlike those of the native API, requests are read leniently, as their clients expect it.
 */
import type { Schema, Unchecked } from '../../../shared/api/zod.ts';
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import type { LoginOrigin } from '../auth/sessions/sessions.ts';
import type { Params } from './params.ts';

/** A request to the compatibility API. */
export interface CompatRequest {
  readonly params: Params;
  /** The unparsed body of any type; empty without one. */
  readonly body: Buffer;
  /** The secrets of its sessions, in order of precedence. */
  readonly secrets: readonly string[];
  /** Secrets that are only in the cookie of the native API, which scripts in a page cannot read. */
  readonly hiddenSecrets: readonly string[];
  /** Whether the request contains a secret, valid or not. */
  readonly isSidSent: boolean;
  readonly origin: LoginOrigin;
  /** Aborted once the client is gone. */
  readonly gone: AbortSignal;
  /** The connection is encrypted. */
  readonly isSecure: boolean;
}

/** An answer; its body gets `took` when it is sent. */
export interface CompatAnswer<Body extends object = object> {
  readonly status: number;
  /** Null = no body. */
  readonly body: Body | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A row of the compatibility API. */
export interface CompatRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path without the prefix `/api`. */
  readonly path: string;
  /** `public` needs no session. */
  readonly access: 'public' | 'session';
  /** The body of success. */
  readonly answer: Schema;
  handle(request: CompatRequest): Promise<CompatAnswer> | CompatAnswer;
}

/** A row that only reads; most are. */
export function reading<S extends Schema>(
  path: string,
  answer: S,
  read: (request: CompatRequest) => Promise<Untimed<Unchecked<S>>> | Untimed<Unchecked<S>>,
  access: CompatRoute['access'] = 'session',
): CompatRoute {
  return {
    method: 'GET',
    path,
    access,
    answer,
    handle: async (request) => ({ status: 200, body: await read(request) }),
  };
}
