/**
 * One HTTP/2 connection (RFC 9113) with only the parts that DNS over HTTPS needs: small requests and small answers, no
 * push, no priorities, no entries in the client's header table. Every octet may come from an attacker: the amount of
 * unfinished work per client is limited, and a client that violates the protocol is disconnected.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { readU32 } from '../../../shared/dns/wire.ts';
import { ConnectionFault } from './connection-fault.ts';
import { checkControl, readSetting } from './control-frames.ts';
import { H2FrameReader } from './frame-reader.ts';
import type { Frame } from './frame-reader.ts';
import {
  DEFAULT_WINDOW,
  FrameFlag,
  frameOf,
  frameOfWords,
  FrameType,
  H2Code,
  MAX_WINDOW,
  Setting,
  SETTING_SIZE,
  settingsFrame,
} from './frames.ts';
import type { H2CodeValue } from './frames.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { losesJoinedAnswers, readRequestFields } from './request-fields.ts';
import type { RequestFields } from './request-fields.ts';
import { fillerAfter, responseFrames } from './response-frames.ts';
import type { ResponseFields } from './response-frames.ts';
import { SendWindows } from './send-windows.ts';

/** Limits per client. */
export interface H2Limits {
  /** Maximum number of open streams. */
  readonly streams: number;
  /** Maximum size of a body. */
  readonly bodySize: number;
  /** Maximum size of all incomplete bodies, in bytes. */
  readonly buffered: number;
  /** Maximum number of bytes of answers that the client has not received; above this limit, nothing more is read. */
  readonly unsent: number;
}

/** A request with its complete body. */
export interface H2Request extends RequestFields {
  /** The body; valid only during the call. */
  readonly body: Uint8Array;
  /** Sends the response; does nothing if the client has cancelled the stream. */
  end(status: number, fields: ResponseFields, body?: Uint8Array): void;
}

/** A connection; over TLS, the maximum size of a record can be set. */
type H2Socket = Socket & Partial<Pick<TLSSocket, 'setMaxSendFragment'>>;

/** A stream whose request is not answered yet. */
interface Stream {
  fields: RequestFields | null;
  readonly chunks: Uint8Array[];
  size: number;
  /** Whether the client has sent the complete request. */
  isWhole: boolean;
}

/** Maximum size of a request's fields. */
const MAX_LIST_SIZE = 16_384;
/** Maximum number of frames other than HEADERS and DATA per second (CVE-2019-9512 to 9518, CVE-2023-44487). */
const MAX_CONTROL_FRAMES_PER_SECOND = 300;
/** A window is reopened after this many bytes. */
const WINDOW_STEP = 32_768;
const NO_BODY = new Uint8Array(0);
/** The smallest limit of record sizes that OpenSSL accepts, in bytes (SSL_set_max_send_fragment). */
const SMALLEST_RECORD = 512;

/** The highest stream number. */
const MAX_STREAM = 2 ** 31 - 1;

/** Serves one connection until its socket closes. */
export class H2Session {
  private readonly socket: H2Socket;
  private readonly limits: H2Limits;
  private readonly take: (request: H2Request) => void;
  private readonly frames = new H2FrameReader();
  private readonly blocks = new HeaderBlocks(MAX_LIST_SIZE);
  private readonly streams = new Map<number, Stream>();
  private readonly windows: SendWindows;
  private lastStream = 0;
  private buffered = 0;
  /** Bytes of DATA since the connection's window was last reopened. */
  private received = 0;
  private second = 0;
  private controlFrames = 0;
  private out: Buffer[] = [];
  /** While true, output is sent at the end of the turn. */
  private isReading = false;
  private isFlushing = false;
  private isOver = false;
  /** Whether each response is in its own TLS record, see `losesJoinedAnswers`. */
  private isSpread = false;

  constructor(socket: H2Socket, limits: H2Limits, take: (request: H2Request) => void) {
    this.socket = socket;
    this.limits = limits;
    this.take = take;
    this.windows = new SendWindows(limits.unsent, (frame) => this.write(frame));
    this.write(
      settingsFrame([
        [Setting.MAX_CONCURRENT_STREAMS, limits.streams],
        [Setting.MAX_HEADER_LIST_SIZE, MAX_LIST_SIZE],
      ]),
    );
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('drain', () => socket.resume());
    socket.on('end', () => this.finish());
  }

  /**
   * Asks the client to open its next streams on another connection; streams that the client still opens here are served
   * (RFC 9113 section 6.8).
   */
  retire(): void {
    if (this.isOver) return;
    this.write(frameOfWords(FrameType.GOAWAY, 0, MAX_STREAM, H2Code.NO_ERROR));
    this.flush();
  }

  /** Accepts no more streams, and closes after written data is sent. */
  finish(): void {
    this.leave(H2Code.NO_ERROR);
  }

  private read(chunk: Buffer): void {
    if (this.isOver) return;
    this.isReading = true;
    try {
      this.frames.push(chunk, (frame) => this.takeFrame(frame));
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error;
      this.leave(error.code);
    } finally {
      this.isReading = false;
      this.flush();
    }
    if (this.socket.writableLength > this.limits.unsent) this.socket.pause();
  }

  /** Handles a frame; returns whether to continue. */
  private takeFrame(frame: Frame): boolean {
    const { type } = frame;
    // RFC 9113 section 6.10: no other frame may come between the frames of a block.
    if (this.blocks.isOpen !== (type === FrameType.CONTINUATION))
      throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
    if (type === FrameType.HEADERS || type === FrameType.CONTINUATION) this.takeHeaders(frame);
    else if (type === FrameType.DATA) this.takeData(frame);
    else this.takeControl(frame);
    return !this.isOver;
  }

  private takeHeaders(frame: Frame): void {
    const block = this.blocks.add(frame);
    if (block === null) return;
    const { stream: id, isLast, fields } = block;
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      // These fields are trailers, which end the request.
      if (!isLast || stream.isWhole) throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
      this.complete(id, stream);
      return;
    }
    if ((id & 1) === 0) throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
    // The stream was already reset or answered: its fields are decoded for the table, then ignored.
    if (id <= this.lastStream) {
      this.countControl();
      return;
    }
    this.lastStream = id;
    const request = fields === null ? null : readRequestFields(fields);
    if (this.streams.size >= this.limits.streams) this.reset(id, H2Code.REFUSED_STREAM);
    else if (fields !== null && request === null) this.reset(id, H2Code.PROTOCOL_ERROR);
    else this.open(id, request, isLast);
  }

  /** `request` is null if its fields are too large. */
  private open(id: number, request: RequestFields | null, isLast: boolean): void {
    const stream: Stream = { fields: request, chunks: [], size: 0, isWhole: false };
    this.streams.set(id, stream);
    this.windows.open(id);
    if (request === null) {
      this.end(id, 431, {}, undefined);
    } else if (isLast) this.complete(id, stream);
  }

  private takeData({ stream: id, flags, payload, frameSize }: Frame): void {
    if (id === 0 || id > this.lastStream) throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
    this.received += frameSize;
    if (this.received > DEFAULT_WINDOW) throw new ConnectionFault(H2Code.FLOW_CONTROL_ERROR);
    if (this.received >= WINDOW_STEP) {
      this.write(frameOfWords(FrameType.WINDOW_UPDATE, 0, this.received));
      this.received = 0;
    }
    const stream = this.streams.get(id);
    const isLast = (flags & FrameFlag.END_STREAM) !== 0;
    if (stream === undefined || stream.isWhole) {
      // The frames were in transit when the stream was reset or answered.
      this.countControl();
      return;
    }
    if (payload.length === 0 && !isLast) this.countControl();
    this.keep(stream, payload);
    if (stream.size > this.limits.bodySize || this.buffered > this.limits.buffered)
      this.end(id, 413, {}, undefined);
    else if (isLast) this.complete(id, stream);
  }

  private keep(stream: Stream, payload: Uint8Array): void {
    stream.chunks.push(payload.slice());
    stream.size += payload.length;
    this.buffered += payload.length;
  }

  /** Passes on a complete request. */
  private complete(id: number, stream: Stream): void {
    const { fields, chunks, size } = stream;
    if (fields === null) return;
    if (fields.contentLength !== -1 && fields.contentLength !== size) {
      this.remove(id);
      this.reset(id, H2Code.PROTOCOL_ERROR);
      return;
    }
    stream.isWhole = true;
    const body = size === 0 ? NO_BODY : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    this.release(stream);
    if (!this.isSpread && losesJoinedAnswers(fields)) this.spread();
    this.take({
      ...fields,
      body,
      end: (status, answer, octets) => this.answer(id, status, answer, octets),
    });
  }

  /** Same as `end`, for callers outside this class: errors close the connection. */
  private answer(...response: Parameters<H2Session['end']>): void {
    try {
      this.end(...response);
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error;
      this.leave(error.code);
    }
  }

  private end(id: number, status: number, fields: ResponseFields, body: Uint8Array | undefined): void {
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    const { isWhole } = stream;
    this.remove(id);
    if (body === undefined) this.windows.close(id);
    const size = body === undefined ? 0 : this.windows.send(id, body);
    this.write(responseFrames(id, { status, fields }, body, size));
    this.windows.sendRest(id);
    // The rest of the body is not needed (RFC 9113 section 8.1).
    if (!isWhole) this.reset(id, H2Code.NO_ERROR);
    this.flushSoon();
  }

  private takeControl(frame: Frame): void {
    this.countControl();
    checkControl(frame, this.lastStream);
    const { type, stream, flags, payload } = frame;
    if (type === FrameType.SETTINGS) this.takeSettings(frame);
    else if (type === FrameType.WINDOW_UPDATE) this.widen(stream, readU32(payload, 0) & MAX_WINDOW);
    else if (type === FrameType.RST_STREAM) {
      this.remove(stream);
      this.windows.close(stream);
    } else if (type === FrameType.PING && (flags & FrameFlag.ACK) === 0)
      this.write(frameOf(FrameType.PING, FrameFlag.ACK, 0, payload));
  }

  private takeSettings({ flags, payload }: Frame): void {
    if ((flags & FrameFlag.ACK) !== 0) return;
    for (let at = 0; at < payload.length; at += SETTING_SIZE) {
      const initialWindow = readSetting(payload, at);
      if (initialWindow !== null && !this.windows.resize(initialWindow))
        throw new ConnectionFault(H2Code.FLOW_CONTROL_ERROR);
    }
    this.write(frameOf(FrameType.SETTINGS, FrameFlag.ACK, 0, NO_BODY));
  }

  private widen(stream: number, octets: number): void {
    if (octets === 0 || !this.windows.widen(stream, octets)) {
      if (stream === 0)
        throw new ConnectionFault(octets === 0 ? H2Code.PROTOCOL_ERROR : H2Code.FLOW_CONTROL_ERROR);
      this.remove(stream);
      this.reset(stream, octets === 0 ? H2Code.PROTOCOL_ERROR : H2Code.FLOW_CONTROL_ERROR);
    }
  }

  private countControl(): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.controlFrames = 0;
    }
    if (++this.controlFrames > MAX_CONTROL_FRAMES_PER_SECOND)
      throw new ConnectionFault(H2Code.ENHANCE_YOUR_CALM);
  }

  private remove(id: number): void {
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    this.release(stream);
    this.streams.delete(id);
  }

  private release(stream: Stream): void {
    if (stream.chunks.length === 0) return;
    for (const chunk of stream.chunks.splice(0)) this.buffered -= chunk.length;
  }

  private reset(id: number, code: H2CodeValue): void {
    this.windows.close(id);
    this.write(frameOfWords(FrameType.RST_STREAM, id, code));
  }

  private leave(code: H2CodeValue): void {
    if (this.isOver) return;
    this.isOver = true;
    this.write(frameOfWords(FrameType.GOAWAY, 0, this.lastStream, code));
    this.flush();
    this.socket.destroySoon();
  }

  private write(frame: Buffer): void {
    this.out.push(frame);
    if (this.isSpread) this.fillRecord(frame.length);
  }

  /** Puts each response from now on into its own TLS record; responses of one turn are still written together. */
  private spread(): void {
    this.isSpread = this.socket.setMaxSendFragment?.(SMALLEST_RECORD) === true;
    if (this.isSpread) this.fillRecord(this.out.reduce((sum, { length }) => sum + length, 0));
  }

  private fillRecord(written: number): void {
    const filler = fillerAfter(written, SMALLEST_RECORD);
    if (filler !== null) this.out.push(filler);
  }

  /** Sends all answers of one turn in one write. */
  private flushSoon(): void {
    if (this.isFlushing || this.isReading) return;
    this.isFlushing = true;
    process.nextTick(() => {
      this.isFlushing = false;
      this.flush();
    });
  }

  private flush(): void {
    const { out, socket } = this;
    if (out.length === 0) return;
    this.out = [];
    if (socket.writable) socket.write(out.length === 1 ? out[0]! : Buffer.concat(out));
  }
}
