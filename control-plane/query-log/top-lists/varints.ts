/** Numbers up to 2^53 in as few bytes as possible: LEB128, seven bits per byte, lowest bits first. */

/** Maximum number of bytes of one number. */
export const MAX_VARINT_BYTES = 8;

/** Writes numbers to a growing buffer. */
export class VarintWriter {
  private bytes: Uint8Array;
  private at = 0;

  constructor(bytes = 4096) {
    this.bytes = new Uint8Array(bytes);
  }

  put(value: number): void {
    if (this.bytes.length - this.at < MAX_VARINT_BYTES) {
      const larger = new Uint8Array(this.bytes.length * 2 + MAX_VARINT_BYTES);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bytes[this.at++] = (rest % 0x80) | 0x80;
    this.bytes[this.at++] = rest;
  }

  /** The bytes written so far; valid until the next write. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }
}

/** Reads numbers. Methods throw a RangeError at the end of the bytes, and for a number above 2^53. */
export class VarintReader {
  at: number;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  next(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte - 0x80;
    for (let factor = 0x80; ; factor *= 0x80) {
      byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('could not read a number: more than 2^53');
      if (byte < 0x80) return value;
    }
  }

  /** Reads the next `count` numbers. */
  column(count: number): Float64Array {
    const numbers = new Float64Array(count);
    for (let i = 0; i < count; i++) numbers[i] = this.next();
    return numbers;
  }

  /** Reads the next `count` bytes. */
  take(count: number): Uint8Array {
    if (count > this.bytes.length - this.at) throw new RangeError('could not read bytes: truncated');
    return this.bytes.subarray(this.at, (this.at += count));
  }

  private byte(): number {
    if (this.at >= this.bytes.length) throw new RangeError('could not read a number: truncated');
    return this.bytes[this.at++]!;
  }
}
