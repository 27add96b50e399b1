/**
 * Finds lines in the files of `names-file.ts`: a page of lines with the help of the index, or all lines that contain a
 * text by reading the file in chunks, so that the event loop is never blocked for longer than one chunk takes. For a
 * very common text, the number of matches is estimated.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { LINES_PER_MARK, TRAILER_BYTES } from '../../policy/compile/table/names-file.ts';
import { readFully } from '../../host/files/read-fully.ts';

/** Lines to return: at most `count` matching lines from number `from` (0-based) on. */
export interface NamesRequest {
  readonly from: number;
  readonly count: number;
  /** Text in lower case that lines must contain; empty = every line. */
  readonly search: string;
  /**
   * Returns false for inactive lines, which are then excluded. If the function is absent, only the lines of the page
   * are read.
   */
  readonly counts?: ((line: string) => boolean) | undefined;
  /** Replaces `COUNTED_BYTES`. */
  readonly countedBytes?: number;
}

/** Result of a search. */
export interface NamesFound {
  readonly lines: string[];
  /** Number of all matching lines, including those that are not returned. */
  readonly total: number;
  /** Whether the file was not read to its end, and the total is estimated. */
  readonly isEstimate: boolean;
}

const CHUNK_BYTES = 1_048_576;
/** Minimum number of bytes to read before the total is estimated, once the page is complete: about 800,000 names. */
const COUNTED_BYTES = 16_777_216;
/** Number of hits in a chunk above which checking each byte is faster than a search call for each hit. */
const DENSE_HITS = 8192;
const LF = 0x0a;

/** Searches the file at `path`; throws if it is missing or incomplete. */
export async function searchNames(path: string, request: NamesRequest): Promise<NamesFound> {
  const file = await open(path);
  try {
    const { textBytes, lines, marks } = await readTrailer(file);
    if (request.search === '' && request.counts === undefined)
      return {
        lines: await readPage(file, textBytes, lines, marks, request),
        total: lines,
        isEstimate: false,
      };
    const scan = new Scan(request);
    const countedBytes = request.countedBytes ?? COUNTED_BYTES;
    let readBytes = 0;
    await eachChunk(file, 0, textBytes, (chunk) => {
      scan.read(chunk);
      readBytes += chunk.length;
      return readBytes < countedBytes || !scan.isFull;
    });
    const isEstimate = readBytes < textBytes;
    const total = isEstimate ? Math.round((scan.total * textBytes) / readBytes) : scan.total;
    return { lines: scan.lines, total, isEstimate };
  } finally {
    await file.close();
  }
}

interface Trailer {
  readonly textBytes: number;
  readonly lines: number;
  /** Number of index entries after the text. */
  readonly marks: number;
}

async function readTrailer(file: FileHandle): Promise<Trailer> {
  const { size } = await file.stat();
  if (size < TRAILER_BYTES) throw new RangeError('could not read names: file is incomplete');
  const bytes = Buffer.alloc(TRAILER_BYTES);
  await readPart(file, bytes, size - TRAILER_BYTES);
  const [textBytes, lines, marks] = [0, 8, 16].map((at) => bytes.readDoubleLE(at)) as [
    number,
    number,
    number,
  ];
  if (textBytes + marks * 8 + TRAILER_BYTES !== size)
    throw new RangeError('could not read names: file is incomplete');
  return { textBytes, lines, marks };
}

async function readPage(
  file: FileHandle,
  textBytes: number,
  lines: number,
  marks: number,
  { from, count }: NamesRequest,
): Promise<string[]> {
  if (from >= lines || count === 0) return [];
  const mark = Math.floor(from / LINES_PER_MARK);
  const bytes = Buffer.alloc(8);
  if (mark >= marks) throw new RangeError('could not read names: file is incomplete');
  await readPart(file, bytes, textBytes + mark * 8);
  const found: string[] = [];
  let skip = from - mark * LINES_PER_MARK;
  await eachChunk(file, bytes.readDoubleLE(0), textBytes, (chunk) => {
    for (let start = 0; start < chunk.length && found.length < count;) {
      const end = chunk.indexOf(LF, start);
      if (skip > 0) skip--;
      else found.push(chunk.toString('utf8', start, end));
      start = end + 1;
    }
    return found.length < count;
  });
  return found;
}

/** Counts matching lines and keeps those of the page. */
class Scan {
  readonly lines: string[] = [];
  total = 0;
  private readonly request: NamesRequest;
  private readonly needle: Buffer;
  private isDense = false;

  constructor(request: NamesRequest) {
    this.request = request;
    this.needle = Buffer.from(request.search);
  }

  /** Whether the page needs no more lines. */
  get isFull(): boolean {
    return this.total >= this.request.from && this.lines.length === this.request.count;
  }

  /** Reads a chunk of complete lines. */
  read(chunk: Buffer): void {
    const before = this.total;
    if (this.needle.length === 0) this.readAll(chunk);
    else if (this.isDense) this.readDense(chunk);
    else this.readSparse(chunk);
    this.isDense = this.total - before > DENSE_HITS;
  }

  private readAll(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(LF, start);
      this.hit(chunk, start, end);
      start = end + 1;
    }
  }

  private readSparse(chunk: Buffer): void {
    for (let at = chunk.indexOf(this.needle); at >= 0;) {
      const start = chunk.lastIndexOf(LF, at) + 1;
      const end = chunk.indexOf(LF, at);
      this.hit(chunk, start, end);
      at = chunk.indexOf(this.needle, end + 1);
    }
  }

  /** Like `read`, byte by byte. */
  private readDense(chunk: Buffer): void {
    const { needle } = this;
    const first = needle[0]!;
    const length = chunk.length;
    let start = 0;
    for (let at = 0; at < length; at++) {
      const byte = chunk[at]!;
      if (byte === LF) start = at + 1;
      else if (byte === first && startsAt(chunk, at, needle)) {
        let end = at + needle.length;
        while (chunk[end] !== LF) end++;
        this.hit(chunk, start, end);
        start = end + 1;
        at = end;
      }
    }
  }

  private hit(chunk: Buffer, start: number, end: number): void {
    const { from, count, counts } = this.request;
    if (counts !== undefined && !counts(chunk.toString('utf8', start, end))) return;
    if (this.total >= from && this.lines.length < count) this.lines.push(chunk.toString('utf8', start, end));
    this.total++;
  }
}

function startsAt(chunk: Buffer, at: number, needle: Buffer): boolean {
  for (let index = 1; index < needle.length; index++) if (chunk[at + index] !== needle[index]) return false;
  return true;
}

/**
 * Calls a function with chunks of complete lines from [from, to) until the function returns false; a chunk is only
 * valid during the call.
 */
async function eachChunk(
  file: FileHandle,
  from: number,
  to: number,
  read: (chunk: Buffer) => boolean,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - from));
  for (let at = from; at < to;) {
    const length = Math.min(buffer.length, to - at);
    const bytes = buffer.subarray(0, length);
    await readPart(file, bytes, at);
    const end = bytes.lastIndexOf(LF) + 1;
    if (end === 0) throw new RangeError('could not read names: a line is longer than a chunk');
    if (!read(bytes.subarray(0, end))) return;
    at += end;
  }
}

async function readPart(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  if (!(await readFully(file, bytes, position)))
    throw new RangeError('could not read names: file is incomplete');
}
