/** Checks the stream and size of control frames (RFC 9113 section 6), and reads settings. */
import { readU16, readU32 } from '../../../shared/dns/wire.ts';
import { ConnectionFault } from './connection-fault.ts';
import type { Frame } from './frame-reader.ts';
import {
  FrameFlag,
  FrameType,
  H2Code,
  MAX_FRAME_SIZE,
  PING_SIZE,
  PRIORITY_SIZE,
  Setting,
  SETTING_SIZE,
} from './frames.ts';

const ERROR_CODE_SIZE = 4;
const WINDOW_SIZE = 4;
const MAX_FRAME_SIZE_SETTING = 2 ** 24 - 1;

/** Throws ConnectionFault unless the frame is well-formed; unknown types are allowed (RFC 9113 section 5.5). */
export function checkControl({ type, stream, flags, payload }: Frame, lastStream: number): void {
  const size = payload.length;
  switch (type) {
    case FrameType.SETTINGS:
      check(stream === 0, H2Code.PROTOCOL_ERROR);
      check(size % SETTING_SIZE === 0, H2Code.FRAME_SIZE_ERROR);
      check((flags & FrameFlag.ACK) === 0 || size === 0, H2Code.FRAME_SIZE_ERROR);
      break;
    case FrameType.WINDOW_UPDATE:
      check(size === WINDOW_SIZE, H2Code.FRAME_SIZE_ERROR);
      check(stream <= lastStream, H2Code.PROTOCOL_ERROR);
      break;
    case FrameType.PING:
      check(stream === 0, H2Code.PROTOCOL_ERROR);
      check(size === PING_SIZE, H2Code.FRAME_SIZE_ERROR);
      break;
    case FrameType.RST_STREAM:
      check(size === ERROR_CODE_SIZE, H2Code.FRAME_SIZE_ERROR);
      check(stream !== 0 && stream <= lastStream, H2Code.PROTOCOL_ERROR);
      break;
    case FrameType.PRIORITY:
      check(stream !== 0, H2Code.PROTOCOL_ERROR);
      check(size === PRIORITY_SIZE, H2Code.FRAME_SIZE_ERROR);
      break;
    case FrameType.GOAWAY:
      check(stream === 0, H2Code.PROTOCOL_ERROR);
      break;
    case FrameType.PUSH_PROMISE:
      // A client must not push.
      throw new ConnectionFault(H2Code.PROTOCOL_ERROR);
  }
}

/** The initial window of streams, if that is the setting at `at`; null for other settings. Throws ConnectionFault. */
export function readSetting(payload: Uint8Array, at: number): number | null {
  const id = readU16(payload, at);
  const value = readU32(payload, at + 2);
  if (id === Setting.MAX_FRAME_SIZE)
    check(value >= MAX_FRAME_SIZE && value <= MAX_FRAME_SIZE_SETTING, H2Code.PROTOCOL_ERROR);
  return id === Setting.INITIAL_WINDOW_SIZE ? value : null;
}

function check(isRight: boolean, code: (typeof H2Code)[keyof typeof H2Code]): void {
  if (!isRight) throw new ConnectionFault(code);
}
