/** The cookie that carries a session's secret. `authenticator.ts` handles sessions. */
import type { Request, Response } from 'express';
import { isSessionSecret } from './session-secret.ts';

/** Name of the cookie. */
export const SESSION_COOKIE = 'svc_session';

/** The secret in a request; undefined without a well-formed one. */
export function sessionSecretOf(request: Request): string | undefined {
  const value: unknown = (request.cookies as Record<string, unknown> | undefined)?.[SESSION_COOKIE];
  return typeof value === 'string' && isSessionSecret(value) ? value : undefined;
}

/** Sends the secret to the browser; without `until` it ends with the browser. */
export function setSessionCookie(request: Request, response: Response, secret: string, until?: Date): void {
  response.cookie(SESSION_COOKIE, secret, {
    ...attributes(request),
    ...(until === undefined ? {} : { expires: until }),
  });
}

/** Takes the cookie back. */
export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(SESSION_COOKIE, attributes(request));
}

function attributes(request: Request) {
  return { httpOnly: true, sameSite: 'strict', secure: request.secure, path: '/' } as const;
}
