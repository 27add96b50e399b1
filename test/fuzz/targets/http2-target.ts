/**
 * An HTTP/2 connection: the same bytes, split in any way, lead to the same responses or to the end of the connection.
 * The server writes only complete frames, and stays within its limits. Header blocks mean the same as for a simple
 * decoder.
 */
import type { Socket } from 'node:net';
import { EventEmitter } from 'node:events';
import {
  FrameFlag,
  frameOf,
  frameOfWords,
  FrameType,
  PREFACE,
  settingsFrame,
} from '../../../dns-worker/streams/h2/frames.ts';
import { H2Session } from '../../../dns-worker/streams/h2/h2-session.ts';
import type { H2Limits } from '../../../dns-worker/streams/h2/h2-session.ts';
import { HpackDecoder, HpackError } from '../../../dns-worker/streams/h2/hpack.ts';
import { readDohTarget } from '../../../shared/dns/doh-target.ts';
import { octets } from '../../support/dns/built-messages.ts';
import { hold, InputReader, octetsOf, shown } from '../target.ts';
import type { Target } from '../target.ts';
import { PlainHpack } from '../plain-hpack.ts';

const LIMITS: H2Limits = { streams: 4, bodySize: 100, buffered: 150, unsent: 2000 };
const MAX_LIST_SIZE = 400;

/** A socket that stores the written bytes. */
class KeepingSocket extends EventEmitter {
  readonly written: Buffer[] = [];
  isOver = false;
  readonly writable = true;
  readonly writableLength = 0;

  write(bytes: Buffer): boolean {
    this.written.push(bytes);
    return true;
  }

  destroySoon(): void {
    this.isOver = true;
  }

  pause(): void {
    hold(false, 'it waits although everything is sent');
  }

  resume(): void {
    hold(false, 'it resumes although it does not wait');
  }
}

/** All output to a client, and all requests, after bytes in pieces of these sizes. */
function spoken(bytes: Uint8Array, sizes: readonly number[]): string {
  const socket = new KeepingSocket();
  const requests: unknown[] = [];
  new H2Session(socket as unknown as Socket, LIMITS, (request) => {
    const { body, method, path, contentType, forwardedFor, contentLength } = request;
    const fields = { method, path, contentType, forwardedFor, contentLength };
    hold(body.length <= LIMITS.bodySize, 'a body is longer than allowed');
    requests.push([fields, body.slice()]);
    const { kind } = readDohTarget(fields.method, fields.path, fields.contentType);
    request.end(
      kind === 'refused' ? 404 : 200,
      { 'content-type': 'a/b' },
      kind === 'refused' ? undefined : new Uint8Array(300),
    );
    request.end(200, {}, undefined);
  });
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = Math.min(bytes.length, at + sizes[turn % sizes.length]!);
    socket.emit('data', Buffer.from(bytes.subarray(at, end)));
    at = end;
  }
  socket.emit('end');
  hold(socket.isOver, 'the connection stays open');
  const all = Buffer.concat(socket.written);
  let at = 0;
  while (at + 9 <= all.length) at += 9 + all.readUIntBE(at, 3);
  hold(at === all.length, 'it writes a part of a frame');
  return shown([all, requests]);
}

function runSession(reader: InputReader): void {
  const hasPreface = reader.octet() < 250;
  const size = 1 + reader.octet();
  const bytes = octets(hasPreface ? PREFACE : [], reader.rest());
  const whole = spoken(bytes, [Math.max(1, bytes.length)]);
  hold(spoken(bytes, [size, 1, 9, 30]) === whole, 'the answers depend on how the bytes are split');
}

/** Header blocks of one connection, each after a length byte. */
function runBlocks(reader: InputReader): void {
  const decoder = new HpackDecoder(MAX_LIST_SIZE);
  const plain = new PlainHpack();
  const blocks = reader.rest();
  for (let at = 0; at < blocks.length;) {
    const end = Math.min(blocks.length, at + 1 + blocks[at]!);
    const block = blocks.subarray(at + 1, end);
    const expected = plain.decode(block);
    let fields: ReturnType<HpackDecoder['decode']>;
    try {
      fields = decoder.decode(block);
    } catch (error) {
      if (!(error instanceof HpackError)) throw error;
      hold(expected === null, 'a valid block is rejected');
      return;
    }
    hold(expected !== null, 'an invalid block is accepted');
    const size = expected.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    hold(
      size > MAX_LIST_SIZE ? fields === null : shown(fields) === shown(expected),
      'the fields differ from those of the simple decoder',
    );
    at = end;
  }
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  reader.of([runSession, runBlocks])(reader);
}

const HEADERS = Buffer.concat([Buffer.from('828704', 'hex'), Buffer.of(10), Buffer.from('/dns-query')]);
const POST = Buffer.concat([Buffer.from('838704', 'hex'), Buffer.of(10), Buffer.from('/dns-query')]);
const LAST = FrameFlag.END_STREAM | FrameFlag.END_HEADERS;

/** Seeds: connections with requests, and header blocks (RFC 7541 appendix C.4). */
export const target: Target = {
  // Fewer than 300 control frames, because their limit depends on time.
  maxLength: 2400,
  seeds: () => [
    octets(
      [0, 20, 5],
      settingsFrame([[4, 100]]),
      frameOf(FrameType.HEADERS, LAST, 1, HEADERS),
      frameOf(FrameType.PING, 0, 0, new Uint8Array(8)),
    ),
    octets(
      [0, 20, 5],
      frameOf(FrameType.HEADERS, FrameFlag.END_HEADERS, 1, POST),
      frameOf(FrameType.DATA, 0, 1, new Uint8Array(12)),
      frameOf(FrameType.DATA, FrameFlag.END_STREAM, 1, new Uint8Array(20)),
    ),
    octets(
      [0, 20, 1],
      frameOf(FrameType.HEADERS, FrameFlag.END_STREAM, 1, HEADERS.subarray(0, 5)),
      frameOf(FrameType.CONTINUATION, FrameFlag.END_HEADERS, 1, HEADERS.subarray(5)),
    ),
    octets(
      [0, 20, 1],
      frameOf(FrameType.HEADERS, FrameFlag.END_HEADERS, 1, POST),
      frameOfWords(FrameType.RST_STREAM, 1, 8),
      frameOfWords(FrameType.WINDOW_UPDATE, 0, 1000),
      frameOf(FrameType.DATA, FrameFlag.PADDED, 3, Uint8Array.of(1, 7, 0)),
    ),
    octets(
      [0, 20, 1],
      settingsFrame([[4, 0]]),
      frameOf(FrameType.HEADERS, LAST, 1, HEADERS),
      frameOfWords(FrameType.WINDOW_UPDATE, 1, 200),
      frameOf(FrameType.HEADERS, LAST, 3, HEADERS),
      settingsFrame([[4, 70_000]]),
    ),
    octets(
      [1, 17],
      Buffer.from('828684418cf1e3c2e5f23a6ba0ab90f4ff', 'hex'),
      [12],
      Buffer.from('828684be5886a8eb10649cbf', 'hex'),
    ),
    octets([1, 5], Buffer.from('4001610162', 'hex'), [1, 0xbe], [5], Buffer.from('203fe11fbe', 'hex')),
    octets([1, 23], Buffer.from('828785408825a849e95ba97d7f8925a849e95bb8e8b4bf', 'hex')),
  ],
  dictionary: [
    HEADERS,
    POST,
    PREFACE,
    octetsOf('application/dns-message'),
    octetsOf('?dns=AAAB'),
    Uint8Array.of(0, 0, 4, 8, 0, 0, 0, 0),
  ],
  run,
};
