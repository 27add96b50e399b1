/**
 * Redirects plain HTTP to HTTPS while `server.web_tls.enabled`. Must come after the check of the Host field, because it
 * relies on the host name.
 */
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../../api/api-error.ts';
import { isLocal } from '../../api/local-requests.ts';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/**
 * Answers 301 with the https URL of the same host, path and query. Behind a trusted proxy, the protocol between client
 * and proxy counts (X-Forwarded-Proto). Requests over the local socket are not redirected, because they cross no
 * network.
 */
export function redirectToHttps(request: Request, response: Response, next: NextFunction): void {
  if (request.secure || isLocal(request)) {
    next();
    return;
  }
  // A probe would interpret a redirect as healthy.
  if (request.headers.host === undefined) throw new ApiError(400, 'malformed', 'expected HTTPS');
  response
    .location(`https://${secureHost(request)}${targetOf(request.url)}`)
    .status(301)
    .end();
}

/**
 * Weir serves HTTPS on the port of the request, which the Host field omits if it is 80. A proxy has a separate port for
 * HTTPS, of which Weir only knows that it should be the default port.
 */
function secureHost({ app, host, socket }: Request): string {
  const url = new URL(`http://${host}/`);
  const isTrustedProxy = app.get('trust proxy fn') as (address: string | undefined, hop: number) => boolean;
  const port = url.port === '' && !isTrustedProxy(socket.remoteAddress, 0) ? HTTP_PORT : Number(url.port);
  return port === 0 || port === HTTPS_PORT ? url.hostname : `${url.hostname}:${port}`;
}

/** Path and query of a request target, which may be in absolute form. */
function targetOf(target: string): string {
  if (target.startsWith('/')) return target;
  const { pathname, search } = new URL(target);
  return pathname + search;
}
