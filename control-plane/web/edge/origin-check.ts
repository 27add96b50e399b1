/**
 * Prevents cross-site requests that change state. SameSite=Strict on the cookie is the first defence; this check is the
 * second, and the only one without a cookie (login, setup, authentication off).
 */
import type { Request } from 'express';
import { ApiError } from '../../api/api-error.ts';

/**
 * Throws 403 if a browser reports that another origin sent this request. Programs other than browsers send neither of
 * the two fields, and are accepted. Only hosts and ports are compared: a proxy may use TLS in front of Weir.
 */
export function refuseCrossOrigin(request: Request): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw crossOrigin(`sec-fetch-site ${site}`);
  if (origin === undefined) return;
  // Express takes `host` from X-Forwarded-Host if the peer is a trusted proxy.
  if (hostOf(origin) !== request.host.toLowerCase()) throw crossOrigin(`origin ${origin}`);
}

/** Origins of browser extensions, which a page cannot have. */
const EXTENSION_ORIGIN = /^(?:chrome|moz)-extension:\/\/[\w-]+$/;

/** Whether a browser extension sent the request; users install extensions like programs, so they are trusted. */
export function isFromExtension({ headers: { origin } }: Request): boolean {
  return origin !== undefined && EXTENSION_ORIGIN.test(origin);
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function crossOrigin(what: string): ApiError {
  return new ApiError(403, 'cross_origin', `cross-site requests are refused (${what})`);
}
