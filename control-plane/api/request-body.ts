/**
 * Reads the body of a request as JSON, within a limit, or ends the request with 400, 413 or 415. `validate.ts` checks
 * the JSON; it rejects a key `__proto__` as an unknown field.
 */
import type { Request } from 'express';
import { ApiError } from './api-error.ts';

/** Default limit of the body size of a route. */
export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024;
/** Maximum body size of a route without a login; enough for any name and password. */
export const PUBLIC_BODY_LIMIT_BYTES = 16 * 1024;

/** The JSON value of the body; undefined without a body. */
export async function readJsonBody(request: Request, limitBytes: number): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  checkHeaders(request);
  const bytes = await readBytes(request, limitBytes);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

function hasBody(request: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

function checkHeaders(request: Request): void {
  const [mediaType = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const isJson = /^application\/(?:[^\s/]+\+)?json$/.test(mediaType.trim());
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  if (!isJson || (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)))
    throw unsupported('the body must be application/json in UTF-8');
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') throw unsupported('the body must not be compressed');
}

function unsupported(detail: string): ApiError {
  return new ApiError(415, 'unsupported_media_type', detail, { headers: { Accept: 'application/json' } });
}

/** The unparsed body; empty without a body. Throws 400 and 413. */
export async function readBytes(request: Request, limitBytes: number): Promise<Buffer> {
  refuseLarge(request, limitBytes, 'body');
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    // The request must not be destroyed if this loop ends early, because the response uses the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new ApiError(400, 'malformed', 'the request body ended too early', { cause: error });
  }
  if (sizeBytes <= limitBytes) return Buffer.concat(chunks);
  throw tooLarge(limitBytes, 'body');
}

/** Before the body is read, rejects a Content-Length that is too large. @throws {ApiError} 413 */
export function refuseLarge({ headers }: Request, limitBytes: number, what: 'body' | 'file'): void {
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes, what);
}

/** 413: the body or file is too large. */
export function tooLarge(limitBytes: number, what: 'body' | 'file'): ApiError {
  return new ApiError(413, 'too_large', `the ${what} must not exceed ${limitBytes} bytes`);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    // Only the position is used, because V8 quotes the text around the error, and a body may contain a password.
    const at = /at position \d+/.exec(error instanceof Error ? error.message : '');
    throw new ApiError(
      400,
      'malformed',
      `the body is not JSON in UTF-8${at === null ? '' : `: error ${at[0]}`}`,
      {
        fields: [{ path: '', message: 'expected JSON in UTF-8' }],
      },
    );
  }
}
