/** Reads certificate and key from a form sent by a browser or by curl. `certificate-pair.ts` checks them. */
import type { MulterError } from 'multer';
import type { Writable } from 'node:stream';
import { ApiError } from '../../api/api-error.ts';
import { readBytes } from '../../api/request-body.ts';
import type { BodyForm } from '../../api/route.ts';
import { MAX_CERT_BYTES, MAX_KEY_BYTES } from './certificate-files.ts';

const MEDIA_TYPE = 'multipart/form-data';
/** Limits of the two fields; multer's own limit is the larger one. */
const LIMITS = { cert: MAX_CERT_BYTES, key: MAX_KEY_BYTES } as const;

/** Maximum number of parts that are read, enough to report a superfluous part. */
const MAX_PARTS = 4;

/** Multer is loaded with the first form. Multer would read an invalid form to its end, whatever the size. */
async function readForm(...[request, response]: Parameters<BodyForm['read']>): Promise<void> {
  const bytes = await readBytes(request, MAX_PARTS * MAX_CERT_BYTES);
  const { default: multer } = await import('multer');
  const options = {
    storage: multer.memoryStorage(),
    // A part may be a file or text.
    limits: { fileSize: MAX_CERT_BYTES, fieldSize: MAX_CERT_BYTES, fieldNameSize: 100, parts: MAX_PARTS },
    streamHandler: (_request: unknown, parser: Writable) => void parser.end(bytes),
  };
  const read = multer(options).fields([
    { name: 'cert', maxCount: 1 },
    { name: 'key', maxCount: 1 },
  ]);
  try {
    await new Promise<void>((resolve, reject) => {
      read(request, response, (error?: unknown) =>
        error === undefined
          ? resolve()
          : reject(error instanceof Error ? error : new Error('the body is not a form')),
      );
    });
  } catch (error) {
    throw error instanceof multer.MulterError ? refusalOf(error) : malformed(error);
  }
}

/** The form of an upload: `cert` and `key`, each as a file or as text. */
export const uploadForm: BodyForm = {
  mediaType: MEDIA_TYPE,

  /** Reads both texts and other fields. Throws 400, 413 and 415. */
  async read(request, response) {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (coding === undefined && (length ?? '0') === '0') return {};
    const [mediaType = ''] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
    if (mediaType.trim() !== MEDIA_TYPE)
      throw new ApiError(415, 'unsupported_media_type', `the body must be ${MEDIA_TYPE}`, {
        headers: { Accept: MEDIA_TYPE },
      });
    await readForm(request, response);
    const texts = { ...(request.body as Record<string, unknown> | undefined), ...filesOf(request) };
    for (const [name, limitBytes] of Object.entries(LIMITS)) {
      const text = texts[name];
      if (typeof text === 'string' && Buffer.byteLength(text) > limitBytes) throw tooLarge(name);
    }
    return texts;
  },
};

function filesOf(request: Parameters<BodyForm['read']>[0]): Record<string, unknown> {
  const files = request.files as Partial<Record<string, Express.Multer.File[]>> | undefined;
  const found = Object.entries(files ?? {}).map(([name, list]) => [name, list?.[0]?.buffer.toString('utf8')]);
  return Object.fromEntries(found) as Record<string, unknown>;
}

function refusalOf(error: MulterError): ApiError {
  const field = error.field ?? '';
  if (error.code === 'LIMIT_FILE_SIZE' || error.code === 'LIMIT_FIELD_VALUE') return tooLarge(field);
  if (error.code === 'LIMIT_UNEXPECTED_FILE')
    return new ApiError(400, 'invalid', 'expected one file each in cert and key', {
      fields: [{ path: field, message: 'unknown or repeated field' }],
      headers: CLOSE,
    });
  return malformed(error);
}

function malformed(error: unknown): ApiError {
  return new ApiError(400, 'malformed', `the body is not ${MEDIA_TYPE}`, { headers: CLOSE, cause: error });
}

/** Closes the connection, because the rest of the body is not read. */
const CLOSE = { Connection: 'close' } as const;

function tooLarge(field: string): ApiError {
  const limit = field === 'key' ? MAX_KEY_BYTES : MAX_CERT_BYTES;
  const detail = `${field === '' ? 'a part' : field} must not be larger than ${limit} bytes`;
  return new ApiError(413, 'too_large', detail, { headers: CLOSE });
}
