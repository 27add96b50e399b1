/**
 * Checks the Host field of requests. After DNS rebinding, the browser treats a foreign page as a page of Weir, and only
 * the Host field reveals the difference.
 */
import type { NextFunction, Request, Response } from 'express';
import { isIP, isIPv4 } from 'node:net';
import { ApiError } from '../../api/api-error.ts';
import { isFromTrustedPeer } from '../../api/client-address.ts';

/** The names of this server. */
interface OwnNames {
  readonly nodeName: string;
  /** `server.allowed_hosts`. */
  readonly allowedHosts: () => readonly string[];
}

/**
 * Throws 421 if the Host field (of a trusted proxy: X-Forwarded-Host) is neither an address nor localhost nor a name of
 * this server. Throws 400 unless there is exactly one Host field (RFC 9112 section 3.2); probes of load balancers may
 * omit it.
 */
export function checkHost(names: OwnNames) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { host: hosts = [] } = request.headersDistinct;
    if (hosts.length === 0 && mayOmitHost(request)) return next();
    if (hosts.length !== 1 || hosts[0] === '' || targetNamesAnother(request.url, hosts[0]!))
      throw new ApiError(400, 'malformed', 'expected one Host header field, that of the request target');
    const name = nameOf(request.host);
    if (name === null || !(isAddress(name) || isOwn(name, names)))
      throw new ApiError(
        421,
        'misdirected',
        'unknown host; add the host names of Weir to server.allowed_hosts',
      );
    next();
  };
}

/** Header fields sent by a browser, or by a proxy between a browser and Weir. */
const NOT_OF_PROBES = ['origin', 'x-forwarded-host'] as const;

/** Probes of load balancers, such as `option httpchk` of HAProxy, are HTTP/1.0 without the field; browsers always send it. */
function mayOmitHost(request: Request): boolean {
  const { method, url, httpVersion, headers } = request;
  const isProbe = httpVersion === '1.0' && url.startsWith('/') && /^(?:GET|HEAD|OPTIONS)$/.test(method);
  return isProbe && NOT_OF_PROBES.every((name) => headers[name] === undefined) && isFromTrustedPeer(request);
}

/** A target in absolute form contains a host, which would override the Host field. */
function targetNamesAnother(target: string, host: string): boolean {
  if (target.startsWith('/')) return false;
  return !URL.canParse(target) || new URL(target).host !== host.toLowerCase();
}

/** The host of `host[:port]` in lower case without a trailing dot, IPv6 in brackets; null for anything else. */
function nameOf(host: string): string | null {
  const match = /^(\[[^\]]*\]|[^:[\]]+)(?::\d{1,5})?$/.exec(host);
  return match === null ? null : match[1]!.toLowerCase().replace(/(.)\.$/, '$1');
}

function isAddress(name: string): boolean {
  return isIPv4(name) || (name.startsWith('[') && isIP(name.slice(1, -1)) === 6);
}

function isOwn(name: string, { nodeName, allowedHosts }: OwnNames): boolean {
  if (name === 'localhost' || name === nodeName.toLowerCase()) return true;
  return allowedHosts().some((allowed) => allowed.toLowerCase().replace(/\.$/, '') === name);
}
