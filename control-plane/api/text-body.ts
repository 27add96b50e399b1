/** Reads the body of a request as plain text in UTF-8, within a limit, or ends the request with 400, 413 or 415. */
import type { Request } from 'express';
import { ApiError } from './api-error.ts';
import { readBytes } from './request-body.ts';
import type { BodyForm } from './route.ts';

/** Media type of a plain-text body. */
export const TEXT_MEDIA_TYPE = 'text/plain';

/** Reads a text of at most this many bytes. */
export function textBody(limitBytes: number): BodyForm {
  return { mediaType: TEXT_MEDIA_TYPE, read: (request) => readText(request, limitBytes) };
}

async function readText(request: Request, limitBytes: number): Promise<string> {
  const [mediaType = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const coding = request.headers['content-encoding'] ?? 'identity';
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (mediaType.trim() !== TEXT_MEDIA_TYPE || !isUtf8 || coding !== 'identity')
    throw new ApiError(415, 'unsupported_media_type', `the body must be ${TEXT_MEDIA_TYPE} in UTF-8`, {
      headers: { Accept: TEXT_MEDIA_TYPE },
    });
  const bytes = await readBytes(request, limitBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ApiError(400, 'malformed', 'the body is not UTF-8', { cause: error });
  }
}
