/**
 * Serves the routes of the compatibility API: finds the route, reads the body, checks the session, and sends the
 * response or the error with the time it took.
 */
import type { NextFunction, Request, Response } from 'express';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { mayCall } from '../../api/route-access.ts';
import { forbidden } from '../../api/api-error.ts';
import { holderOf } from '../../api/places.ts';
import { logFailure, toApiError } from '../../api/problem.ts';
import { readBytes } from '../../api/request-body.ts';
import { runFor } from '../../api/request-holder.ts';
import { whileConnected } from '../../api/route.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { loginOriginOf } from '../auth/request-caller.ts';
import { SESSION_COOKIE, sidsOf } from '../auth/session-cookie.ts';
import { isSessionSecret } from '../auth/sessions/session-secret.ts';
import { BODY_LIMIT_BYTES, sidIn } from '../compat/compat-body.ts';
import { answerOfError, answerOfFault, CompatFault, noSuchPath } from '../compat/compat-error.ts';
import type { CompatAnswer, CompatRequest, CompatRoute } from '../compat/compat-route.ts';
import { keepCookie } from '../compat/compat-session.ts';
import { Params } from '../compat/params.ts';
import { isFromExtension, refuseCrossOrigin } from '../edge/origin-check.ts';

/** Express handlers: for requests, and for errors of earlier middleware. */
export interface CompatApp {
  /** For `/admin/api`, where older clients expect the API of another version. */
  readonly refuse: (request: Request, response: Response) => void;
  readonly serve: (request: Request, response: Response) => Promise<void>;
  readonly fail: (thrown: unknown, request: Request, response: Response, next: NextFunction) => void;
}

/** Text by which clients recognize version 6. */
const NOT_HERE = new CompatFault(
  400,
  'bad_request',
  'Bad request',
  'The API is hosted at pi.hole/api, not pi.hole/admin/api',
);
/** Response for a client that has disconnected. */
const GIVEN_UP: CompatAnswer = { status: 503, body: null };

/** A request that may be handled. */
interface Admitted {
  readonly headers: Record<string, string>;
  readonly holder: string | null;
}

const OPEN: Admitted = { headers: {}, holder: null };

/** The compatibility API with these routes. */
export function compatApp(
  context: { auth: Authenticator; clock: Clock; logger: Logger },
  rows: readonly CompatRoute[],
): CompatApp {
  const byPath = Map.groupBy(rows, ({ path }) => path);
  return {
    serve: async (request, response) => {
      const startMs = context.clock.monotonicMs();
      let answer: CompatAnswer;
      try {
        answer = await answerTo(context.auth, byPath, request, response);
      } catch (thrown) {
        answer = answerOfThrown(context.logger, thrown, request);
      }
      send(response, answer, (context.clock.monotonicMs() - startMs) / 1000);
    },
    refuse: (_request, response) => send(response, answerOfFault(NOT_HERE), 0),
    // Express recognizes an error handler by its four parameters.
    fail: (thrown, request, response, _next) =>
      send(response, answerOfThrown(context.logger, thrown, request), 0),
  };
}

async function answerTo(
  auth: Authenticator,
  byPath: ReadonlyMap<string, readonly CompatRoute[]>,
  http: Request,
  response: Response,
): Promise<CompatAnswer> {
  const rows = byPath.get(http.path.replace(/(.)\/$/, '$1')) ?? [];
  const methods = rows.map(({ method }) => method);
  if (http.method === 'OPTIONS') return { status: 204, body: null, headers: allow(methods) };
  const row = rows.find(({ method }) => method === http.method);
  if (row === undefined) throw noSuchPath(pathOf(http));
  const request = requestOf(http, await readBytes(http, BODY_LIMIT_BYTES));
  if (row.method !== 'GET' && !isFromExtension(http)) refuseCrossOrigin(http);
  const { headers, holder } = row.access === 'public' ? OPEN : await admitRequest(auth, request);
  const answer = await whileConnected(response, (gone) =>
    runFor(holder, () => row.handle({ ...request, gone })),
  );
  if (answer === undefined) return GIVEN_UP;
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

/**
 * Admits requests with a session; returns its owner, and the header fields that keep the session. Throws 401 and 403.
 */
async function admitRequest(auth: Authenticator, request: Omit<CompatRequest, 'gone'>): Promise<Admitted> {
  if (auth.openCaller() !== null) return OPEN;
  const session = await auth.sessions.of(request.secrets);
  if (session === null) throw await auth.refusal();
  if (!mayCall(session.caller, 'viewer')) throw forbidden('family_no_compat');
  const isKept = request.hiddenSecrets.includes(session.secret);
  const headers = isKept ? {} : keepCookie(session, request.isSecure);
  return { headers, holder: holderOf(session.caller) };
}

function requestOf(http: Request, body: Buffer): Omit<CompatRequest, 'gone'> {
  const params = new Params(http.url);
  const given = [sidIn(body), ...sidsOf(http), params.text('sid')].filter((sid) => sid !== undefined);
  const cookie: unknown = (http.cookies as Record<string, unknown>)[SESSION_COOKIE];
  const hidden = typeof cookie === 'string' && !given.includes(cookie) ? [cookie] : [];
  return {
    params,
    body,
    secrets: [...new Set([...given, ...hidden])].filter(isSessionSecret),
    hiddenSecrets: hidden,
    isSidSent: given.length + hidden.length > 0,
    origin: loginOriginOf(http),
    isSecure: http.secure,
  };
}

/** The path as it was sent, which may not be valid percent-encoded UTF-8. */
function pathOf({ originalUrl }: Request): string {
  return originalUrl.replace(/\?.*$/s, '');
}

function allow(methods: readonly string[]): Record<string, string> {
  return { Allow: [...methods, 'OPTIONS'].join(', ') };
}

function answerOfThrown(logger: Logger, thrown: unknown, request: Request): CompatAnswer {
  if (thrown instanceof CompatFault) return answerOfFault(thrown);
  logFailure(logger, thrown, request);
  return answerOfError(toApiError(thrown));
}

function send(response: Response, { status, body, headers = {} }: CompatAnswer, tookSecs: number): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.status(status);
  if (body === null) response.end();
  else response.json({ ...body, took: tookSecs });
}
