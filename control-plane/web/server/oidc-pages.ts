/**
 * `/login/oidc`: the pages of a login at an OpenID provider. They are not part of the API: people open them in a
 * browser, and need no credentials to begin a login.
 */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { OidcStartQuery } from '../../../shared/api/auth-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { ApiError, invalid, unauthorized } from '../../api/api-error.ts';
import { readQuery } from '../../api/query-string.ts';
import { validate } from '../../api/validate.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { attemptOf, dropAttempt, isOwnPath, keepAttempt } from './oidc-attempt.ts';
import { UsedAttempts } from '../auth/oidc/used-attempts.ts';
import { loginOriginOf } from '../auth/request-caller.ts';
import { setSessionCookie } from '../auth/session-cookie.ts';
import { type Page, page, sendPage, write } from './page.ts';

/** Dependencies of the pages. */
export interface OidcPageParts {
  readonly auth: Authenticator;
  readonly clock: Clock;
  /** The current cluster secret. */
  readonly secret: { current(): Uint8Array };
}

const START = '/login/oidc';
const CALLBACK = `${START}/callback`;

/** Adds the pages to the application. */
export function addOidcPages(app: Express, parts: OidcPageParts): void {
  const pages = express.Router({ caseSensitive: true });
  pages.get(START, (request, response) => start(parts, request, response));
  const used = new UsedAttempts();
  pages.get(CALLBACK, (request, response) => callback(parts, used, request, response));
  pages.use(START, showError);
  app.use(pages);
}

/** Redirects the browser to the provider. */
async function start(parts: OidcPageParts, request: Request, response: Response): Promise<void> {
  const { auth, clock, secret } = parts;
  const query = validate(OidcStartQuery, readQuery(request.url), 'parameter');
  const { return_to: returnTo, remember_me: rememberMe } = query;
  if (!isOwnPath(returnTo))
    throw invalid([{ path: 'return_to', message: 'expected a path of this server, such as /' }]);
  const { url, secrets } = await auth.oidc.begin(callbackUrl(request));
  const attempt = { ...secrets, returnTo, rememberMe, startedMs: clock.nowMs() };
  keepAttempt(request, response, attempt, secret.current());
  response.redirect(302, url.href);
}

/** Handles the browser's return and opens a session. */
async function callback(
  parts: OidcPageParts,
  used: UsedAttempts,
  request: Request,
  response: Response,
): Promise<void> {
  const { auth, clock } = parts;
  const attempt = attemptOf(request, parts.secret.current(), clock.nowMs());
  dropAttempt(request, response);
  if (attempt === null)
    throw unauthorized('this browser has not started a login, or started it too long ago; log in again');
  if (!used.use(attempt.state)) throw unauthorized('this login is already finished; log in again');
  const answer = new URL(callbackUrl(request));
  answer.search = new URL(request.url, answer).search;
  const { secret, session } = await auth.oidc.finish(answer, attempt, loginOriginOf(request));
  setSessionCookie(request, response, secret, session.rememberMe ? session.expiresAt : undefined);
  sendPage(response, welcome(attempt.returnTo));
}

/** The URL to which the provider sends the browser back; the Host was checked before. */
function callbackUrl({ protocol, host }: Request): string {
  return `${protocol}://${host}${CALLBACK}`;
}

/**
 * Answers with a page instead of a redirect: browsers send the session cookie when a user follows the link on it, but
 * not when another site has redirected them.
 */
function welcome(returnTo: string): Page {
  return page(
    'Logged in',
    write`<meta http-equiv="refresh" content="0; url=${returnTo}" />
      <p>You are logged in. <a href="${returnTo}">Continue</a></p>`,
  );
}

function showError(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  if (!(error instanceof ApiError)) {
    next(error);
    return;
  }
  response.status(error.status).set(error.headers);
  const text = `${error.message.slice(0, 1).toUpperCase()}${error.message.slice(1)}.`;
  const again = error.status === 404 ? write`` : write`<p><a href="${START}">Try again</a></p>`;
  sendPage(response, page('Login failed', write`<h1>Login failed</h1><p>${text}</p>${again}`));
}
