/**
 * Splits a stream of chunks into lines without copying lines that are complete in a chunk. A line longer than
 * `MAX_LINE_BYTES` is reported once and skipped, so that memory stays bounded.
 */

/** Maximum length of a line; the lines of published lists are much shorter, even with many names per line. */
export const MAX_LINE_BYTES = 65_536;

const LF = 0x0a;

/**
 * Receives the bytes [start, end) of one line; the byte at `end` is its LF. The bytes are valid only during the call.
 */
export interface LineReader {
  line(bytes: Uint8Array, start: number, end: number): void;
  overlongLine(): void;
}

/** Feeds a `LineReader` from chunks of any size. */
export class LineCollector {
  private readonly reader: LineReader;
  /** Beginning of an incomplete line, with space for an LF. */
  private readonly partial = new Uint8Array(MAX_LINE_BYTES + 1);
  private partialLength = 0;
  private dropping = false;

  constructor(reader: LineReader) {
    this.reader = reader;
  }

  /** Reads one chunk; keeps at most its incomplete last line. */
  push(chunk: Uint8Array): void {
    let start = 0;
    if (this.partialLength > 0 || this.dropping) {
      const end = chunk.indexOf(LF);
      if (end < 0) {
        this.keep(chunk, 0, chunk.length);
        return;
      }
      this.keep(chunk, 0, end);
      this.finishPartial();
      start = end + 1;
    }
    const length = chunk.length;
    for (let at = start; at < length; at++) {
      if (chunk[at] !== LF) continue;
      if (at - start > MAX_LINE_BYTES) this.reader.overlongLine();
      else this.reader.line(chunk, start, at);
      start = at + 1;
    }
    if (start < length) this.keep(chunk, start, length);
  }

  /** Reads the last line of a file without a final LF. */
  end(): void {
    if (this.partialLength > 0 || this.dropping) this.finishPartial();
  }

  private keep(chunk: Uint8Array, start: number, end: number): void {
    if (this.dropping) return;
    if (this.partialLength + end - start > MAX_LINE_BYTES) {
      this.dropping = true;
      return;
    }
    this.partial.set(chunk.subarray(start, end), this.partialLength);
    this.partialLength += end - start;
  }

  private finishPartial(): void {
    const length = this.partialLength;
    this.partialLength = 0;
    if (this.dropping) {
      this.dropping = false;
      this.reader.overlongLine();
      return;
    }
    // Readers look at the byte after a line, which must not be part of an earlier line.
    this.partial[length] = LF;
    this.reader.line(this.partial, 0, length);
  }
}
