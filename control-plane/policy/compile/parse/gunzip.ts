/** Decompresses gzip (RFC 1952) as one step of a chain of async iterators over chunks. */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** Size of text chunks: large, because each chunk passes through another thread and through each following step. */
const CHUNK_BYTES = 64 * 1024;

/** Whether bytes start with the magic number of a gzip file (RFC 1952 section 2.3.1). */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** The decompressed chunks; throws the errors of `chunks`, and zlib's error for damaged data. */
export async function* gunzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES });
  // An error destroys `stream`, so that the loop below throws the error.
  pipeline(chunks, stream).catch(() => undefined);
  for await (const chunk of stream) yield chunk as Buffer;
}

/** Decompresses the data if it starts like a gzip file; passes other data through unchanged. */
export async function* gunzipIfMarked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let isDone = false;
  while (head.length < 2 && !isDone) {
    const next = await iterator.next();
    if (next.done === true) isDone = true;
    else head = Buffer.concat([head, next.value]);
  }
  const all = startingWith(head, iterator);
  yield* isGzip(head) ? gunzip(all) : all;
}

async function* startingWith(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
