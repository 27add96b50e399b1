/**
 * The file of a full copy: a magic line, then frames of a type, a length and a payload, and finally the SHA-256 of all
 * preceding bytes. A truncated or modified file is rejected before any part of it is used.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';

const MAGIC = Buffer.from('weir-full-copy 1\n');
const HEAD_BYTES = 5;
const SUM_BYTES = 32;
/** Maximum size of a payload; a row that PostgreSQL sends is never larger. */
const MAX_PAYLOAD_BYTES = 1 << 30;

/** Types of frames. Payloads are JSON, except in frames of type `data`. */
export const FRAME = { head: 1, table: 2, data: 3, sequences: 4, file: 5, end: 6 } as const;

/** A frame. */
export interface Frame {
  readonly type: number;
  readonly payload: Buffer;
}

/** Error: the file is not a full copy, or is damaged. */
export class DamagedCopy extends Error {
  override readonly name = 'DamagedCopy';
}

/** A frame of JSON. */
export function jsonFrame(type: number, value: unknown): Frame {
  return { type, payload: Buffer.from(JSON.stringify(value)) };
}

/** The value of a JSON frame. @throws {DamagedCopy} */
export function readJson<T>(schema: { parse: (value: unknown) => T }, { payload }: Frame): T {
  try {
    return schema.parse(JSON.parse(payload.toString()));
  } catch (cause) {
    throw new DamagedCopy('a frame of the full copy cannot be read', { cause });
  }
}

/** The bytes of a file with these frames. */
export async function* writeFrames(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  const sum = createHash('sha256');
  const summed = (bytes: Buffer): Buffer => {
    sum.update(bytes);
    return bytes;
  };
  yield summed(MAGIC);
  for await (const { type, payload } of frames) {
    yield summed(headOf(type, payload.length));
    yield summed(payload);
  }
  yield summed(headOf(FRAME.end, SUM_BYTES));
  yield sum.digest();
}

function headOf(type: number, length: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(type);
  head.writeUInt32BE(length, 1);
  return head;
}

/** The frames of a file except the last one; throws at the end if the file is incomplete. @throws {DamagedCopy} */
export async function* readFrames(path: string): AsyncGenerator<Frame> {
  const sum = createHash('sha256');
  const source = new ByteSource(createReadStream(path, { highWaterMark: 1 << 20 }));
  const take = async (length: number): Promise<Buffer> => {
    const bytes = await source.take(length);
    if (bytes === null) throw new DamagedCopy(`${path} is truncated: it is not a complete full copy`);
    return bytes;
  };
  const magic = await source.take(MAGIC.length);
  if (magic === null || !magic.equals(MAGIC))
    throw new DamagedCopy(`${path} is not a full copy of this version`);
  sum.update(magic);
  for (;;) {
    const head = await take(HEAD_BYTES);
    sum.update(head);
    const [type, length] = [head.readUInt8(), head.readUInt32BE(1)];
    if (length > MAX_PAYLOAD_BYTES) throw new DamagedCopy(`${path} is damaged`);
    const payload = await take(length);
    if (type === FRAME.end) {
      const own = sum.digest();
      if (length !== SUM_BYTES || !timingSafeEqual(own, payload) || (await source.take(1)) !== null)
        throw new DamagedCopy(`${path} is damaged: wrong checksum`);
      return;
    }
    sum.update(payload);
    yield { type, payload };
  }
}

/** Reads pieces of a given length from a stream. */
class ByteSource {
  private readonly chunks: AsyncIterator<Buffer>;
  private pending: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.chunks = stream[Symbol.asyncIterator]();
  }

  /** The next `length` bytes; null if the stream ends earlier. */
  async take(length: number): Promise<Buffer | null> {
    const parts = [this.pending];
    let size = this.pending.length;
    while (size < length) {
      const next = await this.chunks.next();
      if (next.done === true) return null;
      parts.push(next.value);
      size += next.value.length;
    }
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    this.pending = all.subarray(length);
    return all.subarray(0, length);
  }
}
