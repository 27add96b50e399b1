/**
 * A route of the compatibility API, and the form in which it gets requests and returns responses, without Express,
 * which only `web/server/compat-app.ts` uses. Unlike in the native API, requests are parsed leniently, as clients of
 * the compatibility API expect.
 */
import type { Schema, Unchecked } from '../../../shared/api/zod.ts';
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import type { LoginOrigin } from '../auth/sessions/sessions.ts';
import type { Params } from './params.ts';

/** A request to the compatibility API. */
export interface CompatRequest {
  readonly params: Params;
  /** The unparsed body of any type; empty without a body. */
  readonly body: Buffer;
  /** The secrets of sessions in the request, in order of precedence. */
  readonly secrets: readonly string[];
  /** Secrets that are only in the cookie of the native API, which scripts on a page cannot read. */
  readonly hiddenSecrets: readonly string[];
  /** Whether the request contains a secret, valid or not. */
  readonly isSidSent: boolean;
  readonly origin: LoginOrigin;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Whether the connection is encrypted. */
  readonly isSecure: boolean;
}

/** A response; `took` is added to its body when it is sent. */
export interface CompatAnswer<Body extends object = object> {
  readonly status: number;
  /** Null = no body. */
  readonly body: Body | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route of the compatibility API. */
export interface CompatRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path without the prefix `/api`. */
  readonly path: string;
  /** `public` = needs no session. */
  readonly access: 'public' | 'session';
  /** The body of a successful response. */
  readonly answer: Schema;
  handle(request: CompatRequest): Promise<CompatAnswer> | CompatAnswer;
}

/** A route that only reads, as most do. */
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
