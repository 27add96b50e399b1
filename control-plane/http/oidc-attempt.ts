/**
 * A login at a provider that is under way. It lies in a cookie of the browser that began it, for minutes, so that an
 * answer of the provider counts for that browser alone, on whatever node it comes back.
 */
import type { Request, Response } from 'express';
import { OidcAttempt } from '../../shared/api/auth-api.ts';

const COOKIE = 'weir_login';
/** Only the pages of the login get it. */
const PATH = '/login/oidc';
const LIFE_MS = 10 * 60_000;
const MOST_CHARS = 4096;

/** Hands it to the browser; Lax, as the way back begins on a page of the provider. */
export function keepAttempt(request: Request, response: Response, attempt: OidcAttempt): void {
  const text = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  response.cookie(COOKIE, text, { ...attributes(request), maxAge: LIFE_MS });
}

/** What the browser has; null if it has none, or one that is too old. */
export function attemptOf({ cookies }: Pick<Request, 'cookies'>, nowMs: number): OidcAttempt | null {
  const text: unknown = (cookies as Record<string, unknown> | undefined)?.[COOKIE];
  if (typeof text !== 'string' || text.length > MOST_CHARS) return null;
  try {
    const attempt = OidcAttempt.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return Math.abs(nowMs - attempt.startedMs) <= LIFE_MS && isOwnPath(attempt.returnTo) ? attempt : null;
  } catch {
    return null;
  }
}

/** Takes it back: each answer of the provider counts once. */
export function dropAttempt(request: Request, response: Response): void {
  response.clearCookie(COOKIE, attributes(request));
}

/** Whether a text is a path of this server, however a browser reads it. */
export function isOwnPath(text: string): boolean {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return false;
  return (
    URL.canParse(text, 'http://own.invalid') && new URL(text, 'http://own.invalid').host === 'own.invalid'
  );
}

function attributes(request: Request) {
  return { httpOnly: true, sameSite: 'lax', secure: request.secure, path: PATH } as const;
}
