/**
 * Sends frames to a receiver by the bidirectional Frame Streams protocol, and reconnects if the connection is lost. The
 * sender never blocks: frames that the receiver does not accept in time are lost, and counted.
 */
import { connect, type Socket } from 'node:net';
import type { Logger } from '../../../shared/log.ts';

/** Target of a stream. */
export type StreamTarget = { readonly path: string } | { readonly host: string; readonly port: number };

/** Numbers of frames since the start. */
export interface StreamCounters {
  /** Frames passed to the kernel. */
  readonly sent: number;
  readonly lost: number;
}

export interface FrameStreamOptions {
  readonly target: StreamTarget;
  readonly contentType: string;
  readonly logger: Logger;
}

/** Types of control frames, big-endian in four bytes; a frame length of 0 precedes a control frame. */
const Control = { ACCEPT: 1, START: 2, STOP: 3, READY: 4, FINISH: 5 } as const;
type ControlCode = (typeof Control)[keyof typeof Control];
/** The only field type in control frames. */
const CONTENT_TYPE_FIELD = 1;
/** Maximum size of a control frame; a receiver of Frame Streams never sends more. */
const MAX_CONTROL_BYTES = 512;
/** Maximum number of bytes per write, and of bytes that wait for the receiver. */
const CHUNK_BYTES = 64 << 10;
const MAX_WAITING_BYTES = 4 << 20;
/**
 * Milliseconds for the handshake, and between connection attempts: doubled after each attempt, from `first` up to
 * `last`.
 */
const HANDSHAKE_MS = 5000;
const RETRY_MS = { first: 500, last: 30_000 } as const;

/** A stream of frames. */
export class FrameStream {
  private readonly options: FrameStreamOptions;
  private socket: Socket | undefined;
  private isOpen = false;
  private isClosing = false;
  private received = Buffer.alloc(0);
  private retryMs: number = RETRY_MS.first;
  private timer: NodeJS.Timeout | undefined;
  private chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  private filled = 0;
  private framesInChunk = 0;
  private flushing: NodeJS.Immediate | undefined;
  private sent = 0;
  private lost = 0;
  private readonly ended = Promise.withResolvers<undefined>();

  constructor(options: FrameStreamOptions) {
    this.options = options;
    this.open();
  }

  counters(): StreamCounters {
    return { sent: this.sent, lost: this.lost };
  }

  /** Whether a frame can be sent now; if not, counts one frame as lost. */
  takesFrame(): boolean {
    if (this.isOpen && this.socket!.writableLength < MAX_WAITING_BYTES) return true;
    this.lost++;
    return false;
  }

  /**
   * Sends a frame, together with other frames of the same turn of the event loop. The frame is copied, so the caller
   * may reuse its memory.
   */
  send(frame: Uint8Array): void {
    if (this.filled + 4 + frame.length > CHUNK_BYTES) this.flush();
    this.chunk.writeUInt32BE(frame.length, this.filled);
    this.chunk.set(frame, this.filled + 4);
    this.filled += 4 + frame.length;
    this.framesInChunk++;
    this.flushing ??= setImmediate(() => this.flush());
  }

  /** Sends the waiting frames and a stop frame, and waits for the receiver to confirm the end. */
  async close(withinMs: number): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.timer);
    const { socket } = this;
    if (socket === undefined) return;
    if (!this.isOpen) socket.destroy();
    else {
      this.flush();
      socket.write(controlFrame(Control.STOP));
      this.timer = setTimeout(() => socket.destroy(), withinMs);
    }
    await this.ended.promise;
    clearTimeout(this.timer);
  }

  private open(): void {
    const socket = connect(this.options.target);
    this.socket = socket;
    this.received = Buffer.alloc(0);
    let reason = 'the receiver ended the connection';
    socket.setTimeout(HANDSHAKE_MS, () => socket.destroy(new Error('no Frame Streams handshake in time')));
    socket.on('connect', () => socket.write(controlFrame(Control.READY, this.options.contentType)));
    socket.on('data', (bytes: Buffer) => this.receive(bytes));
    socket.on('error', (error) => (reason = error.message));
    socket.on('close', () => this.goneFor(reason));
    socket.unref();
  }

  /** Reads control frames of the receiver: the replies to READY and later to STOP. */
  private receive(bytes: Buffer): void {
    this.received = Buffer.concat([this.received, bytes]);
    while (this.received.length >= 12) {
      const length = this.received.readUInt32BE(4);
      if (this.received.readUInt32BE(0) !== 0 || length < 4 || length > MAX_CONTROL_BYTES) {
        this.socket?.destroy(new Error('the receiver violates the Frame Streams protocol'));
        return;
      }
      if (this.received.length < 8 + length) return;
      const frame = this.received.subarray(8, 8 + length);
      this.received = this.received.subarray(8 + length);
      this.handle(frame.readUInt32BE(0), frame.subarray(4));
    }
  }

  private handle(control: number, fields: Buffer): void {
    const { contentType, logger } = this.options;
    if (control === Control.FINISH) this.socket?.destroy();
    if (control !== Control.ACCEPT || this.isOpen) return;
    if (!fields.includes(contentType)) {
      this.socket?.destroy(new Error(`the receiver does not accept ${contentType}`));
      return;
    }
    this.socket?.setTimeout(0);
    this.socket?.write(controlFrame(Control.START, contentType));
    this.isOpen = true;
    this.retryMs = RETRY_MS.first;
    logger.info('dnstap stream connected', { ...this.options.target });
  }

  private goneFor(reason: string): void {
    const wasOpen = this.isOpen;
    this.isOpen = false;
    this.socket = undefined;
    this.flush();
    if (this.isClosing) return this.ended.resolve(undefined);
    const isFirst = wasOpen || this.retryMs === RETRY_MS.first;
    if (isFirst) this.options.logger.warn('could not connect to the dnstap receiver; retrying', { reason });
    this.timer = setTimeout(() => this.open(), this.retryMs);
    this.timer.unref();
    this.retryMs = Math.min(this.retryMs * 2, RETRY_MS.last);
  }

  private flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    const frames = this.framesInChunk;
    if (frames === 0) return;
    const chunk = this.chunk.subarray(0, this.filled);
    this.chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    this.filled = 0;
    this.framesInChunk = 0;
    if (!this.isOpen) this.lost += frames;
    else
      this.socket!.write(chunk, (error) => {
        if (error) this.lost += frames;
        else this.sent += frames;
      });
  }
}

function controlFrame(control: ControlCode, contentType?: string): Buffer {
  const type = contentType === undefined ? Buffer.alloc(0) : Buffer.from(contentType);
  const field = Buffer.alloc(type.length === 0 ? 0 : 8);
  if (field.length > 0) {
    field.writeUInt32BE(CONTENT_TYPE_FIELD, 0);
    field.writeUInt32BE(type.length, 4);
  }
  const head = Buffer.alloc(12);
  head.writeUInt32BE(4 + field.length + type.length, 4);
  head.writeUInt32BE(control, 8);
  return Buffer.concat([head, field, type]);
}
