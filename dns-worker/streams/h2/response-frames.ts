/**
 * The frames of a response. Its header block consists of literals with names from the static table, which do not change
 * the client's table.
 */
import { FrameFlag, FrameHead, frameOf, FrameType, writeHead } from './frames.ts';

/** Indexes of names in the static table (RFC 7541 appendix A). */
const NAME_INDEX: Readonly<Record<string, number>> = {
  allow: 22,
  'cache-control': 24,
  'content-length': 28,
  'content-type': 31,
  'retry-after': 53,
};
/** Statuses in the static table, as one-byte fields. */
const STATUS_OCTET: Readonly<Record<number, number>> = { 200: 0x88, 400: 0x8c, 404: 0x8d };
/** The first byte of a literal without indexing whose name has index 8, ':status'. */
const STATUS_LITERAL = 0x08;
/** The largest index that fits into the first byte of a literal without indexing. */
const PREFIX_MAX = 15;
/** Frame type that is reserved for frames without meaning (draft-bishop-httpbis-grease). */
const RESERVED_TYPE = 0x0b;
/** Maximum length of a value, so that its length fits into one byte. */
const MAX_VALUE_SIZE = 126;
/** Maximum size of a literal before its value, and of a status. */
const LITERAL_HEAD_SIZE = 3;
const STATUS_SIZE = 5;

/** Fields of a response by name; each name must be in `NAME_INDEX`, and each value has at most 126 bytes. */
export type ResponseFields = Readonly<Record<string, string | number>>;

/**
 * HEADERS, and the first `size` bytes of the body in a DATA frame; the last frame ends the stream if the body is
 * complete.
 */
export function responseFrames(
  id: number,
  { status, fields }: { readonly status: number; readonly fields: ResponseFields },
  body: Uint8Array | undefined,
  size: number,
): Buffer {
  const sizeBytes = FrameHead.SIZE + headSizeLimit(fields) + (size === 0 ? 0 : FrameHead.SIZE + size);
  const bytes = Buffer.allocUnsafe(sizeBytes);
  const headEnd = writeBlock(bytes, FrameHead.SIZE, status, fields);
  const flags = FrameFlag.END_HEADERS | (body === undefined ? FrameFlag.END_STREAM : 0);
  writeHead(bytes, 0, { length: headEnd - FrameHead.SIZE, type: FrameType.HEADERS, flags, stream: id });
  if (body === undefined || size === 0) return bytes.subarray(0, headEnd);
  const dataFlags = size === body.length ? FrameFlag.END_STREAM : 0;
  writeHead(bytes, headEnd, { length: size, type: FrameType.DATA, flags: dataFlags, stream: id });
  const end = headEnd + FrameHead.SIZE;
  bytes.set(size === body.length ? body : body.subarray(0, size), end);
  return bytes.subarray(0, end + size);
}

/**
 * A frame that fills the data after `size` bytes up to a multiple of `block`; null if `size` is already a multiple. Its
 * type is reserved, and clients must ignore it (RFC 9113 section 5.5).
 */
export function fillerAfter(size: number, block: number): Buffer | null {
  const missing = (block - (size % block)) % block;
  if (missing === 0) return null;
  const length = missing < FrameHead.SIZE ? missing + block : missing;
  return frameOf(RESERVED_TYPE, 0, 0, Buffer.alloc(length - FrameHead.SIZE));
}

/** Maximum size of the block of these fields. */
function headSizeLimit(fields: ResponseFields): number {
  let size = STATUS_SIZE;
  for (const name in fields) size += LITERAL_HEAD_SIZE + String(fields[name]).length;
  return size;
}

/** Writes the block and returns its end. */
function writeBlock(bytes: Uint8Array, at: number, status: number, fields: ResponseFields): number {
  let end = writeStatus(bytes, at, status);
  for (const name in fields) {
    const index = NAME_INDEX[name];
    if (index === undefined) throw new Error(`could not write the response: unknown field ${name}`);
    bytes[end] = PREFIX_MAX;
    bytes[end + 1] = index - PREFIX_MAX;
    end = writeValue(bytes, end + 2, String(fields[name]));
  }
  return end;
}

function writeStatus(bytes: Uint8Array, at: number, status: number): number {
  const octet = STATUS_OCTET[status];
  bytes[at] = octet ?? STATUS_LITERAL;
  return octet === undefined ? writeValue(bytes, at + 1, String(status)) : at + 1;
}

function writeValue(bytes: Uint8Array, at: number, value: string): number {
  if (value.length > MAX_VALUE_SIZE) throw new Error('could not write the response: a value is too long');
  bytes[at] = value.length;
  for (let i = 0; i < value.length; i++) bytes[at + 1 + i] = value.charCodeAt(i);
  return at + 1 + value.length;
}
