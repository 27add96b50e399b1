/**
 * Messages on a stream, each preceded by its length in two octets (RFC 1035 section 4.2.2, RFC 7766 section 8). Pure
 * bytes, so that listeners and upstreams, TCP and TLS, share it.
 */
import { MAX_MESSAGE_SIZE } from './wire.ts';

const LENGTH_SIZE = 2;
const EMPTY = new Uint8Array(0);

/** Receives a message; `false` stops delivery until `resume`. */
export type FrameTaker = (message: Uint8Array) => boolean;

/**
 * Cuts a stream into messages. A message that lies whole in one chunk is handed over as a view of it, not copied; one
 * that spans chunks is assembled in memory of its own. Buffers at most one partial message and undelivered input.
 */
export class FrameReader {
  private readonly take: FrameTaker;
  /** Received and not yet delivered. */
  private rest: Uint8Array = EMPTY;
  /** A partial message with its length octets, and the number of octets received. */
  private partial: Uint8Array = EMPTY;
  private filled = 0;
  private stopped = false;
  private delivering = false;

  constructor(take: FrameTaker) {
    this.take = take;
  }

  /** Whether the stream is between two messages: nothing partial, nothing undelivered. */
  get isEmpty(): boolean {
    return this.rest.length === 0 && this.filled === 0;
  }

  /** Delivers every message that `chunk` completes. The chunk must not be written to afterwards. */
  push(chunk: Uint8Array): void {
    this.rest = this.rest.length === 0 ? chunk : concat(this.rest, chunk);
    this.deliver();
  }

  /** Continues after the receiver returned `false`. */
  resume(): void {
    this.stopped = false;
    this.deliver();
  }

  private deliver(): void {
    // The receiver may call resume() itself; a loop keeps the stack flat.
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
    const rest = this.rest;
    if (rest.length >= LENGTH_SIZE) {
      const end = LENGTH_SIZE + ((rest[0]! << 8) | rest[1]!);
      if (rest.length >= end) {
        this.rest = rest.length === end ? EMPTY : rest.subarray(end);
        return rest.subarray(LENGTH_SIZE, end);
      }
      this.partial = new Uint8Array(end);
    } else if (rest.length === 1) {
      this.partial = new Uint8Array(LENGTH_SIZE);
    } else {
      return null;
    }
    this.partial.set(rest);
    this.filled = rest.length;
    this.rest = EMPTY;
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
    const size = Math.min(this.partial.length - this.filled, this.rest.length);
    this.partial.set(this.rest.subarray(0, size), this.filled);
    this.filled += size;
    this.rest = size === this.rest.length ? EMPTY : this.rest.subarray(size);
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** A message preceded by its length, in new memory. `message` is at most 65,535 octets. */
export function frame(message: Uint8Array): Uint8Array {
  if (message.length > MAX_MESSAGE_SIZE) {
    throw new RangeError(
      `frame message: ${String(message.length)} octets do not fit in ${String(MAX_MESSAGE_SIZE)}`,
    );
  }
  const framed = Buffer.allocUnsafe(LENGTH_SIZE + message.length);
  framed[0] = message.length >>> 8;
  framed[1] = message.length;
  framed.set(message, LENGTH_SIZE);
  return framed;
}
