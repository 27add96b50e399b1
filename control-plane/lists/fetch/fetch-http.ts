/**
 * One HTTP exchange for a list, including redirects: from a conditional request until the body of the response can be
 * read, which `store-body.ts` does. Enforces time limits and rejects forbidden hosts.
 */
import type * as http from 'node:http';
import * as https from 'node:https';
import type { FetchLimits } from './fetch-limits.ts';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { errorCode } from '../../../shared/errors.ts';
import { ListError } from './list-error.ts';
import type { FetchBounds, Lookup } from './list-host.ts';
import { boundedLookup } from './list-host.ts';
import { describeCode } from '../../../shared/net/fault-cause.ts';
import { reasonOf } from '../../../shared/errors.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Codes of errors of the disk that stores the list. */
const DISK_FAULTS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'ENOENT']);

/** Validators of the stored copy, for a conditional request (RFC 9110 section 13.1). */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Options of requests. */
export interface HttpWays {
  readonly limits: FetchLimits;
  readonly lookup: Lookup;
  readonly bounds: FetchBounds;
  /** Ends the exchange, even while the body is being read. */
  readonly signal: AbortSignal;
}

/**
 * The response to a GET of `url` with status 200, or 304 if validators were sent; the caller must read or destroy its
 * body.
 */
export async function requestList(
  url: URL,
  validators: Validators,
  ways: HttpWays,
): Promise<http.IncomingMessage> {
  let target = url;
  for (let redirects = 0; redirects <= ways.limits.redirects; redirects++) {
    const response = await request(target, url, validators, ways);
    const status = response.statusCode ?? 0;
    if (status === 200 || (status === 304 && isConditional(validators))) return response;
    response.destroy();
    if (status === 304)
      throw new ListError(
        'http_status',
        `could not fetch ${shownUrl(target.href)}: the server answered 304 (not changed) to the first ` +
          'request',
      );
    if (!REDIRECTS.has(status))
      throw new ListError(
        'http_status',
        `could not fetch ${shownUrl(target.href)}: the server answered ${status}`,
      );
    target = redirectTarget(target, response.headers.location);
  }
  throw new ListError(
    'redirects',
    `could not fetch ${shownUrl(url.href)}: more than ${ways.limits.redirects} redirects`,
  );
}

function redirectTarget(from: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, from))
    throw new ListError(
      'redirects',
      `could not fetch ${shownUrl(from.href)}: a redirect without a usable location`,
    );
  const to = new URL(location, from);
  const isWeb = to.protocol === 'https:' || to.protocol === 'http:';
  if (!isWeb || (from.protocol === 'https:' && to.protocol === 'http:'))
    throw new ListError(
      'redirects',
      `could not fetch ${shownUrl(from.href)}: redirects to ${to.protocol} are not followed`,
    );
  return to;
}

/** Requests `url`; `entered` is the URL that a user entered and that led to `url`. */
async function request(
  url: URL,
  entered: URL,
  validators: Validators,
  ways: HttpWays,
): Promise<http.IncomingMessage> {
  const lookup = boundedLookup(url, entered, ways);
  const { limits, signal } = ways;
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? https : nodeHttp()).request(url, {
      headers: headersOf(validators),
      lookup,
      agent: false,
      signal,
    });
    let incoming: http.IncomingMessage | undefined;
    const stop = (what: string): void => {
      // After the response has started, the reader of the body only receives errors of the response.
      (incoming ?? outgoing).destroy(
        new ListError('timeout', `could not fetch ${shownUrl(url.href)}: ${what}`),
      );
    };
    const connecting = setTimeout(() => stop(`no connection after ${limits.connectMs} ms`), limits.connectMs);
    const connected = (): void => clearTimeout(connecting);
    outgoing.setTimeout(limits.idleMs, () => stop(`no data for ${limits.idleMs} ms`));
    outgoing.once('socket', (socket) =>
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected),
    );
    outgoing.once('close', connected);
    outgoing.once('response', (response) => {
      incoming = response;
      resolve(response);
    });
    // This listener must stay, because errors after the start of the response are also emitted here.
    outgoing.on('error', (error) => reject(asListError(error, url, signal)));
    outgoing.end();
  });
}

function isConditional({ etag, lastModified }: Validators): boolean {
  return etag !== null || lastModified !== null;
}

function headersOf({ etag, lastModified }: Validators): Record<string, string> {
  return {
    Accept: 'text/plain, */*;q=0.5',
    'Accept-Encoding': 'gzip',
    'User-Agent': 'Weir',
    ...(etag === null ? {} : { 'If-None-Match': etag }),
    ...(lastModified === null ? {} : { 'If-Modified-Since': lastModified }),
  };
}

/** Converts the error of a failed exchange to the error to report. */
export function asListError(error: unknown, url: URL, signal: AbortSignal): ListError {
  if (error instanceof ListError) return error;
  if (signal.aborted && signal.reason instanceof ListError) return signal.reason;
  const code = errorCode(error);
  if (code.startsWith('Z_'))
    return new ListError(
      'bad_encoding',
      `could not fetch ${shownUrl(url.href)}: ${explainFault(error)}`,
      error,
    );
  if (DISK_FAULTS.has(code))
    return new ListError('disk', `could not store ${shownUrl(url.href)}: ${explainFault(error)}`, error);
  return new ListError('network', `could not fetch ${shownUrl(url.href)}: ${explainFault(error)}`, error);
}

const REASONS = new Map<string, string>([
  ['HPE_HEADER_OVERFLOW', 'the header of the response is too large'],
  ['Z_BUF_ERROR', 'the compressed data ends too early'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EIO', 'the disk reported an I/O error'],
  ['EACCES', 'permission denied'],
  ['ENOENT', 'the directory does not exist'],
]);
/** Reasons by prefix of the error code. */
const FAMILIES: readonly (readonly [string, string])[] = [
  ['HPE_', 'the server violates the HTTP protocol'],
  ['ERR_SSL_', 'the server and Weir have no TLS version or cipher in common'],
  ['ERR_TLS_', 'the server and Weir have no TLS version or cipher in common'],
  ['Z_', 'the compressed data is damaged'],
];
/** Positions in the source of a library, which OpenSSL appends. */
const SOURCE_PLACE = /(?:[\w.-]*\/)+[\w.-]+\.[a-z]{1,4}:\d+(?::\d+)?/gi;
const MAX_LENGTH = 200;

/** The reason for a failed exchange or write. */
export function explainFault(error: unknown): string {
  const first =
    error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error;
  const reason = reasonOf(first);
  // Node.js reports a body that ends early only with this message.
  if (reason === 'aborted') return 'the connection was closed before the end';
  const code = errorCode(first);
  const known =
    REASONS.get(code) ?? describeCode(code) ?? FAMILIES.find(([start]) => code.startsWith(start))?.[1];
  if (known !== undefined) return known;
  const [line = ''] = reason.replaceAll(SOURCE_PLACE, '').trim().split('\n', 1);
  return line.trim().slice(0, MAX_LENGTH);
}
