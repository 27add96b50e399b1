/**
 * Writes the body of a request to disk, within a limit, or ends the request with 400, 413 or 415. The body must be a
 * single file, not multipart.
 */
import { open } from 'node:fs/promises';
import type { Request } from 'express';
import { ApiError } from './api-error.ts';
import { refuseLarge, tooLarge } from './request-body.ts';

/** Media type of an upload of one file. A browser only sends this type to another origin after a preflight request. */
export const UPLOAD_MEDIA_TYPE = 'application/octet-stream';

/** Writes the body to a new file at `path` (mode 0600); the caller must remove the file, even after an error. */
export async function saveUpload(request: Request, path: string, limitBytes: number): Promise<void> {
  checkMediaType(request);
  refuseLarge(request, limitBytes, 'file');
  const file = await open(path, 'wx', 0o600);
  let sizeBytes = 0;
  try {
    for await (const chunk of chunksOf(request)) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) break;
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  if (sizeBytes > limitBytes) throw tooLarge(limitBytes, 'file');
  if (sizeBytes === 0) throw new ApiError(400, 'malformed', 'the body must be a file, but it is empty');
}

/** If the chunks end early, the client is the cause; a full disk causes an error while writing. */
async function* chunksOf(request: Request): AsyncGenerator<Buffer> {
  try {
    // The request must not be destroyed if this loop ends early, because the response uses the same socket.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new ApiError(400, 'malformed', 'the request body ended too early', { cause: error });
  }
}

function checkMediaType({ headers }: Request): void {
  const [mediaType = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const { 'content-encoding': coding = 'identity' } = headers;
  if (mediaType.trim() === UPLOAD_MEDIA_TYPE && coding === 'identity') return;
  const detail = `the body must be ${UPLOAD_MEDIA_TYPE}, without a content encoding`;
  throw new ApiError(415, 'unsupported_media_type', detail, { headers: { Accept: UPLOAD_MEDIA_TYPE } });
}
