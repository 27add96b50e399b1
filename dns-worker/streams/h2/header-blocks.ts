/** Assembles header blocks from HEADERS and CONTINUATION frames, and decodes them (RFC 9113 section 4.3). */
import { ConnectionFault } from './connection-fault.ts';
import type { Frame } from './frame-reader.ts';
import { FrameFlag, FrameType, H2Code, PRIORITY_SIZE } from './frames.ts';
import { HpackDecoder, HpackError } from './hpack.ts';
import type { Field } from './hpack.ts';

/** The fields of a request, or its trailers. */
export interface HeaderBlock {
  readonly stream: number;
  /** Whether the block ends the stream. */
  readonly isLast: boolean;
  /** The decoded fields; null if they are too large. */
  readonly fields: readonly Field[] | null;
}

/** Maximum size of an encoded block, and maximum number of CONTINUATION frames (CVE-2024-28182). */
const MAX_BLOCK_SIZE = 16_384;
const MAX_CONTINUATIONS = 8;

/** The blocks of one connection. */
export class HeaderBlocks {
  private readonly decoder: HpackDecoder;
  private stream = 0;
  private isLast = false;
  private parts: Uint8Array[] = [];
  private size = 0;

  /** `maxListSize` limits the size of a block's fields, see `HpackDecoder`. */
  constructor(maxListSize: number) {
    this.decoder = new HpackDecoder(maxListSize);
  }

  /** Whether the block is incomplete. */
  get isOpen(): boolean {
    return this.stream !== 0;
  }

  /** Adds a frame; null until the block is complete. Throws ConnectionFault. */
  add(frame: Frame): HeaderBlock | null {
    if (frame.type === FrameType.HEADERS) this.begin(frame);
    else if (frame.stream !== this.stream || this.parts.length > MAX_CONTINUATIONS)
      throw new ConnectionFault(
        frame.stream === this.stream ? H2Code.ENHANCE_YOUR_CALM : H2Code.PROTOCOL_ERROR,
      );
    else this.keep(frame.payload);
    if ((frame.flags & FrameFlag.END_HEADERS) === 0) return null;
    const { stream, isLast, parts } = this;
    this.stream = 0;
    this.parts = [];
    return { stream, isLast, fields: this.decode(parts.length === 1 ? parts[0]! : Buffer.concat(parts)) };
  }

  private begin({ stream, flags, payload }: Frame): void {
    if (stream === 0) throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
    const hasPriority = (flags & FrameFlag.PRIORITY) !== 0;
    if (hasPriority && payload.length < PRIORITY_SIZE) throw new ConnectionFault(H2Code.FRAME_SIZE_ERROR);
    this.stream = stream;
    this.isLast = (flags & FrameFlag.END_STREAM) !== 0;
    this.size = 0;
    this.keep(hasPriority ? payload.subarray(PRIORITY_SIZE) : payload, (flags & FrameFlag.END_HEADERS) !== 0);
  }

  private keep(part: Uint8Array, isWhole = false): void {
    this.size += part.length;
    if (this.size > MAX_BLOCK_SIZE) throw new ConnectionFault(H2Code.ENHANCE_YOUR_CALM);
    this.parts.push(isWhole ? part : part.slice());
  }

  private decode(block: Uint8Array): readonly Field[] | null {
    try {
      return this.decoder.decode(block);
    } catch (error) {
      if (error instanceof HpackError) throw new ConnectionFault(H2Code.COMPRESSION_ERROR);
      throw error;
    }
  }
}
