/**
 * Stores the body of a list in a file: decompresses it if needed, checks its first bytes and its size, and writes it
 * gzip-compressed to disk. Works chunk by chunk, so memory does not depend on the size.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { FetchLimits } from './fetch-limits.ts';
import { gunzip, gunzipIfMarked } from '../../policy/compile/parse/gunzip.ts';
import { ListError } from './list-error.ts';
import { SNIFF_BYTES, sniffList } from '../../policy/compile/parse/sniff-list.ts';

/** Level 4 is a compromise between time and size. */
const GZIP_LEVEL = 4;
const LINE_FEED = 0x0a;

/** A body on disk. */
export interface StoredBody {
  /** Size of the text in bytes. */
  readonly bytes: number;
  /** SHA-256 of the text, hexadecimal. */
  readonly digest: string;
}

/** Options for storing a body. */
export interface BodyReading {
  /** URL or path of the list for messages. */
  readonly shown: string;
  /** Whether the transfer itself is gzip-compressed. */
  readonly isEncoded: boolean;
  /** File to create; it must not exist. After a failure, it may exist, and the caller must remove it. */
  readonly path: string;
  readonly limits: FetchLimits;
  /** Ends the work between two chunks; a body that waits for its next chunk must end by other means. */
  readonly signal: AbortSignal;
}

/** Stores a body; throws a ListError, or the error of the body or the disk. */
export async function storeBody(body: AsyncIterable<Buffer>, reading: BodyReading): Promise<StoredBody> {
  const { path, limits, signal, shown } = reading;
  const text = new TextMeter(shown, limits);
  await pipeline(
    text.pass(textOf(body, reading)),
    createGzip({ level: GZIP_LEVEL }),
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    { signal },
  );
  return text.result();
}

function textOf(
  body: AsyncIterable<Buffer>,
  { isEncoded, limits, shown }: BodyReading,
): AsyncIterable<Buffer> {
  // The limit for uncompressed text is larger; the meter below enforces it.
  const decoded = isEncoded ? gunzip(limitBytes(body, limits.compressedBytes, shown)) : body;
  return gunzipIfMarked(decoded);
}

async function* limitBytes(
  chunks: AsyncIterable<Buffer>,
  limit: number,
  shown: string,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limit) throw tooLarge(shown, limit);
    yield chunk;
  }
}

/** Counts and hashes the text; rejects content whose first bytes are not text. */
class TextMeter {
  private readonly hash = createHash('sha256');
  private readonly shown: string;
  private readonly limits: FetchLimits;
  private bytes = 0;
  private lines = 0;

  constructor(shown: string, limits: FetchLimits) {
    this.shown = shown;
    this.limits = limits;
  }

  async *pass(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let head: Buffer | null = Buffer.alloc(0);
    for await (const chunk of chunks) {
      this.count(chunk);
      this.hash.update(chunk);
      if (head === null) {
        yield chunk;
        continue;
      }
      head = Buffer.concat([head, chunk]);
      if (head.length < SNIFF_BYTES) continue;
      this.sniff(head);
      yield head;
      head = null;
    }
    if (head === null) return;
    if (head.length === 0) throw new ListError('empty', `could not fetch ${this.shown}: the list is empty`);
    this.sniff(head);
    yield head;
  }

  result(): StoredBody {
    return { bytes: this.bytes, digest: this.hash.digest('hex') };
  }

  private count(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > this.limits.textBytes) throw tooLarge(this.shown, this.limits.textBytes);
    // Loops by index, because the iterator of a buffer takes three times as long.
    for (let at = 0; at < chunk.length; at++) if (chunk[at] === LINE_FEED) this.lines++;
    if (this.lines > this.limits.lines)
      throw new ListError('too_large', `could not fetch ${this.shown}: more than ${this.limits.lines} lines`);
  }

  private sniff(head: Buffer): void {
    const reason = sniffList(head);
    if (reason !== null)
      throw new ListError('not_a_list', `could not fetch ${this.shown}: not a list: ${reason}`);
  }
}

function tooLarge(shown: string, limit: number): ListError {
  return new ListError('too_large', `could not fetch ${shown}: larger than ${limit} bytes`);
}
