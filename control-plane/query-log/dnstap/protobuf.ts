/** Writes Protocol Buffers messages into reused memory. */

/** Types of fields on the wire. */
const Wire = { VARINT: 0, BYTES: 2, FIXED32: 5 } as const;

/** A message; field numbers must be from 1 to 15. */
export class ProtobufWriter {
  private readonly buffer: Buffer;
  private at = 0;

  constructor(sizeBytes: number) {
    this.buffer = Buffer.alloc(sizeBytes);
  }

  begin(): void {
    this.at = 0;
  }

  /** The bytes written since `begin()`; valid until the next call of `begin()`. */
  written(): Uint8Array {
    return this.buffer.subarray(0, this.at);
  }

  /** Writes a number, up to 2^53. */
  varint(field: number, value: number): void {
    this.buffer[this.at++] = (field << 3) | Wire.VARINT;
    this.number(value);
  }

  fixed32(field: number, value: number): void {
    this.buffer[this.at++] = (field << 3) | Wire.FIXED32;
    this.at = this.buffer.writeUInt32LE(value, this.at);
  }

  bytes(field: number, value: Uint8Array): void {
    this.buffer[this.at++] = (field << 3) | Wire.BYTES;
    this.number(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  private number(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.at++] = rest;
  }
}
