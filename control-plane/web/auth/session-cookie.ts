/** Finds a session's secret in a request, and sets the cookie for browsers. `authenticator.ts` handles sessions. */
import type { Request, Response } from 'express';
import { isSessionSecret } from './sessions/session-secret.ts';

/** Name of the cookie that a login sets. */
export const SESSION_COOKIE = 'svc_session';

/** Header fields and the cookie in which clients of the compatibility API send a secret. */
const SID_HEADERS = ['sid', 'x-ftl-sid'] as const;
const SID_COOKIE = 'sid';

/** Secrets in a request, from all places where clients of the compatibility API send them, in order of precedence. */
export function sidsOf({ headers, cookies }: Pick<Request, 'headers' | 'cookies'>): string[] {
  const cookie: unknown = (cookies as Record<string, unknown> | undefined)?.[SID_COOKIE];
  return [...SID_HEADERS.map((name) => headers[name]), cookie].filter((value) => typeof value === 'string');
}

/** The well-formed secrets in a request, in order of precedence. */
export function sessionSecretsOf(request: Pick<Request, 'headers' | 'cookies'>): string[] {
  const cookie: unknown = (request.cookies as Record<string, unknown> | undefined)?.[SESSION_COOKIE];
  const sent = [...sidsOf(request), ...(typeof cookie === 'string' ? [cookie] : [])];
  return [...new Set(sent)].filter(isSessionSecret);
}

/** Sends the secret to the browser; without `until`, the cookie is deleted when the browser is closed. */
export function setSessionCookie(request: Request, response: Response, secret: string, until?: Date): void {
  response.cookie(SESSION_COOKIE, secret, {
    ...attributes(request),
    ...(until === undefined ? {} : { expires: until }),
  });
}

/** Deletes the cookie. */
export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(SESSION_COOKIE, attributes(request));
}

function attributes(request: Request) {
  return { httpOnly: true, sameSite: 'strict', secure: request.secure, path: '/' } as const;
}
