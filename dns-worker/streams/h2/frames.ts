/** HTTP/2 frames (RFC 9113 sections 4 and 6): headers, codes, and the frames that a server with small answers needs. */
import { writeU16, writeU32 } from '../../../shared/dns/wire.ts';

/** First bytes from a client (RFC 9113 section 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Offsets in a frame: length (u24), type, flags, stream (u31), payload. */
export const FrameHead = { LENGTH: 0, TYPE: 3, FLAGS: 4, STREAM: 5, SIZE: 9 } as const;

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

/** Bits of the flags; ACK is a flag of SETTINGS and PING only. */
export const FrameFlag = {
  END_STREAM: 0x1,
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

/** Error codes (RFC 9113 section 7). */
export const H2Code = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const;
export type H2CodeValue = (typeof H2Code)[keyof typeof H2Code];

/** Identifiers of settings (RFC 9113 section 6.5.2). */
export const Setting = {
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const;
/** Octets of one setting: identifier and value. */
export const SETTING_SIZE = 6;

/** Maximum payload unless SETTINGS allow more. */
export const MAX_FRAME_SIZE = 16_384;
/** The initial window of a connection, and of a stream unless settings change it (RFC 9113 section 6.9.2). */
export const DEFAULT_WINDOW = 65_535;
export const MAX_WINDOW = 2 ** 31 - 1;
/** Payload sizes of PING, and of PRIORITY, separate or in HEADERS. */
export const PING_SIZE = 8;
export const PRIORITY_SIZE = 5;

/** Writes the header of a frame. */
export function writeHead(
  bytes: Uint8Array,
  at: number,
  { length, type, flags, stream }: { length: number; type: number; flags: number; stream: number },
): void {
  bytes[at] = length >>> 16;
  writeU16(bytes, at + 1, length);
  bytes[at + FrameHead.TYPE] = type;
  bytes[at + FrameHead.FLAGS] = flags;
  writeU32(bytes, at + FrameHead.STREAM, stream);
}

/** A frame with this payload. */
export function frameOf(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FrameHead.SIZE + payload.length);
  writeHead(frame, 0, { length: payload.length, type, flags, stream });
  frame.set(payload, FrameHead.SIZE);
  return frame;
}

/** A frame whose payload consists of these u32s. */
export function frameOfWords(type: number, stream: number, ...words: readonly number[]): Buffer {
  const payload = new Uint8Array(words.length * 4);
  words.forEach((word, i) => writeU32(payload, i * 4, word));
  return frameOf(type, 0, stream, payload);
}

/** A SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = new Uint8Array(settings.length * SETTING_SIZE);
  settings.forEach(([id, value], i) => {
    writeU16(payload, i * SETTING_SIZE, id);
    writeU32(payload, i * SETTING_SIZE + 2, value);
  });
  return frameOf(FrameType.SETTINGS, 0, 0, payload);
}
