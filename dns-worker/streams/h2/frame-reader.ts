/** Splits a client's bytes into frames (RFC 9113 section 4.1), after the preface. */
import { readU32 } from '../../../shared/dns/wire.ts';
import { ConnectionFault } from './connection-fault.ts';
import { FrameFlag, FrameHead, FrameType, H2Code, MAX_FRAME_SIZE, PREFACE } from './frames.ts';

/** An HTTP/2 frame. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  /** Payload without padding; valid only during the call. */
  readonly payload: Uint8Array;
  /** Size of the payload including padding, which counts against flow-control windows. */
  readonly frameSize: number;
}

/** Receives a frame; returns false to stop reading. */
export type FrameReceiver = (frame: Frame) => boolean;

/** Reads the frames of one connection. */
export class H2FrameReader {
  private rest: Buffer = Buffer.alloc(0);
  private hasPreface = false;

  /** Delivers every frame that `chunk` completes. Throws ConnectionFault. */
  push(chunk: Buffer, take: FrameReceiver): void {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let at = this.hasPreface ? 0 : this.readPreface(bytes);
    while (this.hasPreface && bytes.length - at >= FrameHead.SIZE) {
      const size = readU32(bytes, at) >>> 8;
      if (size > MAX_FRAME_SIZE) throw new ConnectionFault(H2Code.FRAME_SIZE_ERROR);
      const next = at + FrameHead.SIZE + size;
      if (next > bytes.length) break;
      if (!take(frameAt(bytes, at, next))) return;
      at = next;
    }
    this.rest = at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  /** Reads the preface; returns the number of bytes read. */
  private readPreface(bytes: Buffer): number {
    const size = Math.min(bytes.length, PREFACE.length);
    if (PREFACE.compare(bytes, 0, size, 0, size) !== 0) throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
    if (size < PREFACE.length) return 0;
    this.hasPreface = true;
    return size;
  }
}

function frameAt(bytes: Buffer, at: number, next: number): Frame {
  const type = bytes[at + FrameHead.TYPE]!;
  const flags = bytes[at + FrameHead.FLAGS]!;
  const start = at + FrameHead.SIZE;
  const isPadded =
    (type === FrameType.DATA || type === FrameType.HEADERS) && (flags & FrameFlag.PADDED) !== 0;
  return {
    type,
    flags,
    stream: readU32(bytes, at + FrameHead.STREAM) & 0x7fffffff,
    payload: isPadded ? withoutPadding(bytes, start, next) : bytes.subarray(start, next),
    frameSize: next - start,
  };
}

/** RFC 9113 section 6.1: one octet contains the number of padding octets after the payload. */
function withoutPadding(bytes: Buffer, start: number, next: number): Uint8Array {
  const padding = start < next ? bytes[start]! : next;
  if (start + 1 + padding > next) throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
  return bytes.subarray(start + 1, next - padding);
}
