/**
 * Messages on a stream, each preceded by its length in two octets (RFC 1035 section 4.2.2, RFC 7766 section 8). Works
 * on bytes only, so that listeners and upstreams can use it over TCP and TLS.
 */
import { MAX_MESSAGE_SIZE } from './wire.ts';

const LENGTH_SIZE = 2;
const EMPTY = new Uint8Array(0);

/** Receives a message; returns false to stop delivery until `resume`. */
export type FrameReceiver = (message: Uint8Array) => boolean;

/**
 * Splits a stream into messages. A message that is complete in one chunk is passed on as a view of the chunk, not
 * copied; a message that spans chunks is assembled in new memory. Buffers at most one partial message and undelivered
 * input.
 */
export class FrameReader {
  private readonly take: FrameReceiver;
  /** Received input, and the number of bytes delivered. */
  private rest: Uint8Array = EMPTY;
  private at = 0;
  /** A partial message with its length prefix, and the number of bytes received. */
  private partial: Uint8Array = EMPTY;
  private filled = 0;
  private stopped = false;
  private delivering = false;

  constructor(take: FrameReceiver) {
    this.take = take;
  }

  /** Whether the stream is between two messages: nothing partial, nothing undelivered. */
  get isEmpty(): boolean {
    return this.rest.length === 0 && this.filled === 0;
  }

  /** Delivers every message that `chunk` completes. The caller must not change the chunk afterwards. */
  push(chunk: Uint8Array): void {
    this.rest = this.rest.length === 0 ? chunk : concat(this.rest.subarray(this.at), chunk);
    this.at = 0;
    this.deliver();
  }

  /** Continues after the receiver returned `false`. */
  resume(): void {
    this.stopped = false;
    this.deliver();
  }

  private deliver(): void {
    // The receiver may call resume() itself; the loop prevents recursion.
    if (this.delivering) return;
    this.delivering = true;
    try {
      while (!this.stopped) {
        const message = this.next();
        if (message === null) break;
        if (!this.take(message)) this.stopped = true;
      }
    } finally {
      this.delivering = false;
    }
  }

  private next(): Uint8Array | null {
    if (this.filled > 0) return this.assemble();
    const { rest, at } = this;
    const left = rest.length - at;
    if (left >= LENGTH_SIZE) {
      const size = LENGTH_SIZE + ((rest[at]! << 8) | rest[at + 1]!);
      if (left >= size) {
        this.skip(size);
        return rest.subarray(at + LENGTH_SIZE, at + size);
      }
      this.partial = new Uint8Array(size);
    } else if (left === 1) {
      this.partial = new Uint8Array(LENGTH_SIZE);
    } else {
      return null;
    }
    this.fill();
    return null;
  }

  private assemble(): Uint8Array | null {
    if (this.filled < LENGTH_SIZE) this.fill();
    if (this.filled < LENGTH_SIZE) return null;
    const end = LENGTH_SIZE + ((this.partial[0]! << 8) | this.partial[1]!);
    if (this.partial.length < end) {
      const whole = new Uint8Array(end);
      whole.set(this.partial.subarray(0, this.filled));
      this.partial = whole;
    }
    this.fill();
    if (this.filled < end) return null;
    const message = this.partial.subarray(LENGTH_SIZE, end);
    this.partial = EMPTY;
    this.filled = 0;
    return message;
  }

  private fill(): void {
    const { rest, at } = this;
    const size = Math.min(this.partial.length - this.filled, rest.length - at);
    this.partial.set(rest.subarray(at, at + size), this.filled);
    this.filled += size;
    this.skip(size);
  }

  private skip(size: number): void {
    this.at += size;
    if (this.at < this.rest.length) return;
    this.rest = EMPTY;
    this.at = 0;
  }
}

/** Size of the memory that a `FrameWriter` fills before it allocates more. */
const CHUNK_SIZE = 16_384;

/** Frames of several messages, one after another, that are written to a stream together. */
export class FrameWriter {
  private chunk: Buffer = Buffer.alloc(0);
  private start = 0;
  private end = 0;

  /** Adds a message of at most 65,535 bytes, which is copied. */
  add(message: Uint8Array): void {
    const size = LENGTH_SIZE + message.length;
    if (this.end + size > this.chunk.length) this.makeRoom(size);
    this.chunk[this.end] = message.length >>> 8;
    this.chunk[this.end + 1] = message.length;
    this.chunk.set(message, this.end + LENGTH_SIZE);
    this.end += size;
  }

  /** All frames since the last call; null if there are none. The writer does not change their memory later. */
  take(): Uint8Array | null {
    if (this.end === this.start) return null;
    const frames = this.chunk.subarray(this.start, this.end);
    this.start = this.end;
    return frames;
  }

  private makeRoom(size: number): void {
    const waiting = this.end - this.start;
    const chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_SIZE, 2 * waiting + size));
    this.chunk.copy(chunk, 0, this.start, this.end);
    this.chunk = chunk;
    this.start = 0;
    this.end = waiting;
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** A message preceded by its length, in new memory. `message` is at most 65,535 bytes. */
export function frame(message: Uint8Array): Uint8Array {
  if (message.length > MAX_MESSAGE_SIZE) {
    throw new RangeError(
      `could not frame a message: ${String(message.length)} bytes do not fit in ${String(MAX_MESSAGE_SIZE)}`,
    );
  }
  const framed = Buffer.allocUnsafe(LENGTH_SIZE + message.length);
  framed[0] = message.length >>> 8;
  framed[1] = message.length;
  framed.set(message, LENGTH_SIZE);
  return framed;
}
