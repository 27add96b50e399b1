/** Refuses requests whose head is too large, or whose framing two servers might interpret differently. */
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../../api/api-error.ts';

/** Maximum size of a request's head in bytes, enforced by the parser (`server.ts`). */
export const MAX_HEAD_BYTES = 16 * 1024;
/** Maximum number of header fields of a request; a browser behind two proxies sends 40. */
export const MAX_FIELDS = 100;
/** Maximum length of a request target: enough for a DNS message over HTTPS, and for any query of the API. */
const MAX_TARGET_LENGTH = 8192;

/** Throws 414, 431 or 400; closes the connection if the start of the next request is uncertain. */
export function checkMessage(request: Request, _response: Response, next: NextFunction): void {
  const { url, rawHeaders, httpVersion, headers } = request;
  if (url.length > MAX_TARGET_LENGTH)
    throw new ApiError(
      414,
      'too_large',
      `the target must not be longer than ${MAX_TARGET_LENGTH} characters`,
    );
  if (rawHeaders.length > 2 * MAX_FIELDS)
    throw new ApiError(431, 'too_large', `a request must not have more than ${MAX_FIELDS} header fields`);
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw malformed(`expected HTTP/1.1, not HTTP/${httpVersion}`);
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return next();
  // RFC 9112 section 6.1: an HTTP/1.0 proxy forwards Transfer-Encoding without understanding it.
  if (httpVersion !== '1.1') throw malformed('Transfer-Encoding needs HTTP/1.1');
  if (coding.toLowerCase() !== 'chunked')
    throw malformed('Transfer-Encoding must be chunked, and nothing else');
  next();
}

function malformed(detail: string): ApiError {
  return new ApiError(400, 'malformed', detail, { headers: { Connection: 'close' } });
}
