/**
 * A pending login at a provider. It is stored for minutes in a cookie of the browser that started it, so that the
 * provider's response is accepted only from that browser, but by every node.
 *
 * Another host of the same site can set cookies for this host, and could thus log someone in as the attacker. A node
 * therefore only accepts cookies that Weir has sealed. With HTTPS, the name of the cookie begins with `__Host-`, which
 * another host cannot set (RFC 6265bis, section 4.1.3.2); without HTTPS, the cookie is valid only for the client
 * address for which it was created.
 */
import type { Request, Response } from 'express';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { OidcAttempt } from '../../../shared/api/auth-api.ts';
import { clientAddress } from '../../api/client-address.ts';
import { deriveKey } from '../../storage/cluster/cluster-secret.ts';

const COOKIE = 'weir_login';
/** Browsers send the cookie only to the pages of the login; a name with `__Host-` needs the root path. */
const PATH = '/login/oidc';
const LIFE_MS = 10 * 60_000;
const MAX_CHARS = 4096;
const KEY_BYTES = 32;

/**
 * Sets the cookie in the browser, with SameSite=Lax, because the browser returns from a page of the provider. `secret`
 * is the cluster secret.
 */
export function keepAttempt(
  request: Request,
  response: Response,
  attempt: OidcAttempt,
  secret: Uint8Array,
): void {
  const text = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  const { name, ...attributes } = cookieOf(request);
  response.cookie(name, `${text}.${sealOf(request, text, secret)}`, { ...attributes, maxAge: LIFE_MS });
}

/** The attempt in the browser's cookie; null if it is missing, forged or too old. */
export function attemptOf(request: Request, secret: Uint8Array, nowMs: number): OidcAttempt | null {
  const { cookies } = request as { cookies?: Record<string, unknown> };
  const value = cookies?.[cookieOf(request).name];
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const [text = '', seal = ''] = value.split('.');
  if (!isSame(seal, sealOf(request, text, secret))) return null;
  const attempt = OidcAttempt.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  return Math.abs(nowMs - attempt.startedMs) <= LIFE_MS && isOwnPath(attempt.returnTo) ? attempt : null;
}

/** Deletes the cookie, because each response of the provider is accepted once. */
export function dropAttempt(request: Request, response: Response): void {
  const { name, ...attributes } = cookieOf(request);
  response.clearCookie(name, attributes);
}

function sealOf(request: Request, text: string, secret: Uint8Array): string {
  const boundTo = request.secure ? '' : clientAddress(request);
  const key = deriveKey(secret, 'login at a provider', KEY_BYTES);
  return createHmac('sha256', key).update(`${boundTo}\n${text}`).digest('base64url');
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether a string is a path of this server, however a browser interprets it. */
export function isOwnPath(text: string): boolean {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return false;
  return (
    URL.canParse(text, 'http://own.invalid') && new URL(text, 'http://own.invalid').host === 'own.invalid'
  );
}

function cookieOf({ secure }: Request) {
  const place = secure ? { name: `__Host-${COOKIE}`, path: '/' } : { name: COOKIE, path: PATH };
  return { ...place, httpOnly: true, sameSite: 'lax', secure } as const;
}
