/** The send windows of a client (RFC 9113 section 5.2), and the data that waits until the windows allow it. */
import { ConnectionFault } from './connection-fault.ts';
import {
  DEFAULT_WINDOW,
  FrameFlag,
  frameOf,
  FrameType,
  H2Code,
  MAX_FRAME_SIZE,
  MAX_WINDOW,
} from './frames.ts';

/** The windows of one connection. */
export class SendWindows {
  private readonly write: (frame: Buffer) => void;
  private readonly maxWaiting: number;
  private connection = DEFAULT_WINDOW;
  private initial = DEFAULT_WINDOW;
  /** Window of each open stream. */
  private readonly streams = new Map<number, number>();
  /** Unsent rest of each body, by stream. */
  private readonly waiting = new Map<number, Uint8Array>();
  private waitingSize = 0;

  /** `maxWaiting` limits the unsent bytes; a client that reads too slowly is disconnected. */
  constructor(maxWaiting: number, write: (frame: Buffer) => void) {
    this.maxWaiting = maxWaiting;
    this.write = write;
  }

  open(stream: number): void {
    this.streams.set(stream, this.initial);
  }

  /** Removes a stream and its unsent data. */
  close(stream: number): void {
    this.streams.delete(stream);
    this.waitingSize -= this.waiting.get(stream)?.length ?? 0;
    this.waiting.delete(stream);
  }

  /** Number of bytes of a body that may be sent now, in one frame. Keeps the rest; call `sendRest` after that frame. */
  send(stream: number, body: Uint8Array): number {
    const size = this.spend(stream, body.length);
    if (size === body.length) {
      this.close(stream);
      return size;
    }
    this.waiting.set(stream, body.slice(size));
    this.waitingSize += body.length - size;
    return size;
  }

  /** Enlarges the window of a stream, or of the connection if `stream` is 0; false if the window would be too large. */
  widen(stream: number, octets: number): boolean {
    if (stream === 0) {
      this.connection += octets;
      if (this.connection > MAX_WINDOW) return false;
      for (const each of [...this.waiting.keys()]) this.drain(each);
      return true;
    }
    const window = this.streams.get(stream);
    if (window === undefined) return true;
    if (window + octets > MAX_WINDOW) return false;
    this.streams.set(stream, window + octets);
    this.drain(stream);
    return true;
  }

  /**
   * Changes the initial window of streams, and the windows of open streams by the same amount; false if a window would
   * be too large.
   */
  resize(initial: number): boolean {
    if (initial > MAX_WINDOW) return false;
    const change = initial - this.initial;
    this.initial = initial;
    for (const [stream, window] of this.streams) {
      if (window + change > MAX_WINDOW) return false;
      this.streams.set(stream, window + change);
    }
    for (const each of [...this.waiting.keys()]) this.drain(each);
    return true;
  }

  /** Spends as much of the windows as one frame may use; returns this number of bytes. */
  private spend(stream: number, wanted: number): number {
    const window = this.streams.get(stream) ?? 0;
    const size = Math.max(0, Math.min(wanted, window, this.connection, MAX_FRAME_SIZE));
    this.connection -= size;
    this.streams.set(stream, window - size);
    return size;
  }

  /** Writes as much of the rest of a body as the windows allow. Throws ConnectionFault if too much data is left. */
  sendRest(stream: number): void {
    this.drain(stream);
    if (this.waitingSize > this.maxWaiting) throw new ConnectionFault(H2Code.ENHANCE_YOUR_CALM);
  }

  private drain(stream: number): void {
    for (let rest = this.waiting.get(stream); rest !== undefined; rest = this.waiting.get(stream)) {
      const size = this.spend(stream, rest.length);
      if (size === 0) return;
      const isLast = size === rest.length;
      this.write(frameOf(FrameType.DATA, isLast ? FrameFlag.END_STREAM : 0, stream, rest.subarray(0, size)));
      this.waitingSize -= size;
      if (isLast) {
        this.waiting.delete(stream);
        this.streams.delete(stream);
      } else this.waiting.set(stream, rest.subarray(size));
    }
  }
}
