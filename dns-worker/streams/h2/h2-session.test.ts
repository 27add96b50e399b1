import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../test/support/parts/until.ts';
import {
  FrameFlag,
  frameOf,
  frameOfWords,
  FrameType,
  H2Code,
  PREFACE,
  settingsFrame,
  Setting,
} from './frames.ts';
import { H2Session } from './h2-session.ts';
import type { H2Request } from './h2-session.ts';

const LIMITS = { streams: 5, bodySize: 100, buffered: 150, unsent: 2000 };
/** GET https /dns-query, and POST with a body, as header blocks. */
const GET = Buffer.concat([Buffer.from('828704', 'hex'), text('/dns-query')]);
const POST = Buffer.concat([Buffer.from('838704', 'hex'), text('/dns-query')]);
const END = FrameFlag.END_STREAM | FrameFlag.END_HEADERS;

function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')]);
}

/** A literal field that is not indexed. */
const field = (name: string, value: string): Buffer => Buffer.concat([Buffer.of(0), text(name), text(value)]);
const headers = (stream: number, block: Uint8Array = GET, flags: number = END): Buffer =>
  frameOf(FrameType.HEADERS, flags, stream, block);
const data = (stream: number, size: number, flags = 0): Buffer =>
  frameOf(FrameType.DATA, flags, stream, new Uint8Array(size));

interface Received {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

let server: Server;
let client: Socket;
let requests: H2Request[];
let received: Received[];
let isClosed: boolean;
let accepted: Socket[];

beforeEach(async () => {
  requests = [];
  received = [];
  isClosed = false;
  accepted = [];
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    accepted.push(socket);
    new H2Session(socket, LIMITS, (request) => requests.push({ ...request, body: request.body.slice() }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let rest = Buffer.alloc(0);
  client.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      received.push({
        type: rest[3]!,
        flags: rest[4]!,
        stream: rest.readUInt32BE(5),
        payload: rest.subarray(9, end),
      });
      rest = rest.subarray(end);
    }
  });
  client.on('error', () => undefined);
  client.once('close', () => (isClosed = true));
});
afterEach(() => {
  client.destroy();
  server.close();
});

/** Sends frames after the preface. */
function send(...frames: readonly Uint8Array[]): void {
  client.write(Buffer.concat([PREFACE, settingsFrame([]), ...frames]));
}
const more = (...frames: readonly Uint8Array[]): void => void client.write(Buffer.concat(frames));

const ofType = (type: number): Received[] => received.filter((frame) => frame.type === type);

/** The error code with which the connection was closed. */
async function goneWith(): Promise<number> {
  await until(
    'GOAWAY',
    () => ofType(FrameType.GOAWAY).length,
    (count) => count > 0,
  );
  await until('the connection to close', () => isClosed);
  return ofType(FrameType.GOAWAY)[0]!.payload.readUInt32BE(4);
}

/** The error code with which a stream was reset. */
async function resetWith(stream: number): Promise<number> {
  const found = () => ofType(FrameType.RST_STREAM).find((frame) => frame.stream === stream);
  await until('RST_STREAM of the stream', found, (now) => now !== undefined);
  return found()!.payload.readUInt32BE(0);
}

async function statusOf(stream: number): Promise<string> {
  const found = () => ofType(FrameType.HEADERS).find((frame) => frame.stream === stream);
  await until('HEADERS of the stream', found, (now) => now !== undefined);
  const { payload } = found()!;
  return payload[0] === 0x88 ? '200' : payload.toString('latin1', 2, 5);
}

/** Waits until `count` requests have arrived. */
function untilAsked(count: number): Promise<unknown> {
  return until(
    `request ${String(count)}`,
    () => requests.length,
    (now) => now === count,
  );
}

/** Proves that the connection is still usable. */
async function stillServes(stream: number): Promise<void> {
  const before = requests.length;
  more(headers(stream));
  await until(
    'the request',
    () => requests.length,
    (count) => count > before,
  );
}

describe('H2Session, an HTTP/2 server connection,', () => {
  test('reads requests split into pieces of any size, and answers in any order', async () => {
    const bytes = Buffer.concat([
      ...[PREFACE, settingsFrame([]), headers(1)],
      ...[headers(3, POST, FrameFlag.END_HEADERS), data(3, 10), data(3, 5, FrameFlag.END_STREAM)],
    ]);
    for (const octet of bytes) {
      client.write(Uint8Array.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await untilAsked(2);
    expect(requests[0]).toMatchObject({ method: 'GET', path: '/dns-query', body: new Uint8Array(0) });
    expect(requests[1]).toMatchObject({ method: 'POST', body: new Uint8Array(15) });
    requests[1]!.end(200, { 'content-length': 3 }, Uint8Array.of(1, 2, 3));
    requests[0]!.end(404, {});
    await until(
      'both answers',
      () => ofType(FrameType.HEADERS).length,
      (count) => count === 2,
    );
    expect(ofType(FrameType.DATA)).toEqual([
      { type: FrameType.DATA, flags: FrameFlag.END_STREAM, stream: 3, payload: Buffer.of(1, 2, 3) },
    ]);
  });

  test("sends an answer of several frames completely if the client's window allows it", async () => {
    send(headers(1));
    await untilAsked(1);
    requests[0]!.end(200, {}, new Uint8Array(40_000).fill(7));
    await until(
      'the last DATA',
      () => ofType(FrameType.DATA).map(({ flags }) => flags),
      (seen) => seen.includes(FrameFlag.END_STREAM),
    );
    const body = Buffer.concat(ofType(FrameType.DATA).map(({ payload }) => payload));
    expect(body.equals(Buffer.alloc(40_000, 7))).toBe(true);
  });

  test('reads padding, priorities, trailers, split header blocks, and frames of unknown types', async () => {
    const padded = Buffer.concat([Buffer.of(3), new Uint8Array(5), GET, new Uint8Array(3)]);
    send(
      headers(1, padded, END | FrameFlag.PADDED | FrameFlag.PRIORITY),
      frameOf(0xbe, 0xff, 1, new Uint8Array(7)),
      frameOf(FrameType.PRIORITY, 0, 9, new Uint8Array(5)),
      headers(3, POST.subarray(0, 2), 0),
      frameOf(FrameType.CONTINUATION, 0, 3, POST.subarray(2, 4)),
      frameOf(FrameType.CONTINUATION, FrameFlag.END_HEADERS, 3, POST.subarray(4)),
      frameOf(
        FrameType.DATA,
        FrameFlag.PADDED,
        3,
        Buffer.concat([Buffer.of(2), new Uint8Array(4), new Uint8Array(2)]),
      ),
      headers(3, field('trailer', 'x')),
    );
    await untilAsked(2);
    expect([requests[0]!.path, requests[1]!.body.length]).toEqual(['/dns-query', 4]);
  });

  test('answers PING and SETTINGS', async () => {
    send(frameOf(FrameType.PING, 0, 0, Buffer.from('abcdefgh')));
    await until(
      'the answer to PING',
      () => ofType(FrameType.PING).length,
      (count) => count === 1,
    );
    expect(ofType(FrameType.PING)[0]).toMatchObject({
      flags: FrameFlag.ACK,
      payload: Buffer.from('abcdefgh'),
    });
    expect(ofType(FrameType.SETTINGS).map(({ flags }) => flags)).toEqual([0, FrameFlag.ACK]);
  });

  test('sends no more than the windows of stream and connection allow (RFC 9113 section 5.2)', async () => {
    send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 10]]), headers(1));
    await untilAsked(1);
    requests[0]!.end(200, {}, new Uint8Array(35));
    const sizes = (): number[] => ofType(FrameType.DATA).map(({ payload }) => payload.length);
    await until('the first DATA', sizes, (all) => all.length === 1);
    more(frameOfWords(FrameType.WINDOW_UPDATE, 1, 5), frameOf(FrameType.PING, 0, 0, new Uint8Array(8)));
    await until(
      'the answer to PING',
      () => ofType(FrameType.PING).length,
      (count) => count === 1,
    );
    expect(sizes()).toEqual([10, 5]);
    more(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 1000]]));
    await until('DATA of the larger window', sizes, (all) => all.length === 3);
    expect(sizes()).toEqual([10, 5, 20]);
    expect(ofType(FrameType.DATA).map(({ flags }) => flags)).toEqual([0, 0, FrameFlag.END_STREAM]);
  });

  test('limits the bytes of answers that a client can leave unread (CVE-2019-9511, CVE-2019-9517)', async () => {
    send(settingsFrame([[Setting.INITIAL_WINDOW_SIZE, 0]]));
    for (let stream = 1; ofType(FrameType.GOAWAY).length === 0; stream += 2) {
      more(headers(stream));
      await until(
        'the request or GOAWAY',
        () => [requests.length, ofType(FrameType.GOAWAY).length],
        (counts) => counts.some(Boolean),
      );
      requests.pop()?.end(200, {}, new Uint8Array(300));
    }
    expect(await goneWith()).toBe(H2Code.ENHANCE_YOUR_CALM);
  });

  test('enlarges the window of the connection when DATA arrives', async () => {
    send();
    for (let stream = 1; stream < 120; stream += 2) {
      more(headers(stream, POST, FrameFlag.END_HEADERS), data(stream, 99, FrameFlag.END_STREAM));
      await until(
        'the request',
        () => requests.length,
        (count) => count === (stream + 1) / 2,
      );
      requests.at(-1)!.end(200, {});
    }
    // Data of an answered stream also counts.
    for (let i = 0; i < 3; i++) more(data(1, 16_000));
    await until(
      'WINDOW_UPDATE',
      () => ofType(FrameType.WINDOW_UPDATE).length,
      (count) => count > 0,
    );
    await stillServes(121);
  });

  test('refuses streams beyond the limit, and accepts streams again after an answer', async () => {
    send(...[1, 3, 5, 7, 9, 11].map((stream) => headers(stream)));
    expect(await resetWith(11)).toBe(H2Code.REFUSED_STREAM);
    expect(requests).toHaveLength(5);
    requests[0]!.end(200, {});
    await stillServes(13);
  });

  test('answers 413 to a body that is too long, alone or among other requests, and discards the body', async () => {
    send(headers(1, POST, FrameFlag.END_HEADERS), data(1, 101));
    expect([await statusOf(1), await resetWith(1)]).toEqual(['413', H2Code.NO_ERROR]);
    more(
      headers(3, POST, FrameFlag.END_HEADERS),
      data(3, 90),
      headers(5, POST, FrameFlag.END_HEADERS),
      data(5, 90),
    );
    expect(await statusOf(5)).toBe('413');
    more(data(3, 1, FrameFlag.END_STREAM));
    await untilAsked(1);
  });

  test('answers 431 to a request with too many header fields', async () => {
    const many = Array.from({ length: 40 }, () => field('x', 'y'.repeat(120)));
    // Fields from the table cost one byte each, but count with their full size.
    const bomb = Buffer.concat([Buffer.of(0x40), text('x'), text('y'.repeat(100)), Buffer.alloc(200, 0xbe)]);
    send(headers(1, Buffer.concat([GET, ...many])), headers(3, Buffer.concat([GET, bomb])));
    expect(await statusOf(3)).toBe('431');
    await untilAsked(1);
  });

  test.each([
    ['no path', Buffer.from('8287', 'hex')],
    ['no scheme', Buffer.concat([Buffer.from('8204', 'hex'), text('/')])],
    ['a pseudo-field after others', Buffer.concat([field('a', 'b'), GET])],
    ['a pseudo-field twice', Buffer.concat([GET, Buffer.of(0x82)])],
    ['a pseudo-field of responses', Buffer.concat([Buffer.of(0x88), GET])],
    ['a name in capitals', Buffer.concat([GET, field('Accept', '*')])],
    ['a field of HTTP/1.1', Buffer.concat([GET, field('transfer-encoding', 'chunked')])],
    ['another length than its body', Buffer.concat([GET, field('content-length', '7')])],
    ['two lengths', Buffer.concat([GET, field('content-length', '0'), field('content-length', '0')])],
  ])('resets a request with %s (RFC 9113 section 8.1.1)', async (_what, block) => {
    send(headers(1, block));
    expect(await resetWith(1)).toBe(H2Code.PROTOCOL_ERROR);
    await stillServes(3);
  });

  test('discards an answer for a stream that the client has reset', async () => {
    send(headers(1));
    await untilAsked(1);
    more(frameOfWords(FrameType.RST_STREAM, 1, 8), frameOf(FrameType.PING, 0, 0, new Uint8Array(8)));
    await until(
      'the answer to PING',
      () => ofType(FrameType.PING).length,
      (count) => count === 1,
    );
    requests[0]!.end(200, {}, new Uint8Array(5));
    await stillServes(3);
    expect(ofType(FrameType.HEADERS)).toEqual([]);
  });

  const window = 2 ** 31 - 1;
  test.each<[string, number, Uint8Array[]]>([
    ['a frame that is too large', H2Code.FRAME_SIZE_ERROR, [data(1, 16_385)]],
    ['HEADERS on stream 0', H2Code.PROTOCOL_ERROR, [headers(0)]],
    ['HEADERS on an even stream', H2Code.PROTOCOL_ERROR, [headers(2)]],
    ['DATA on stream 0', H2Code.PROTOCOL_ERROR, [data(0, 1)]],
    ['DATA on a stream to come', H2Code.PROTOCOL_ERROR, [data(7, 1)]],
    [
      'padding that is longer than its frame',
      H2Code.PROTOCOL_ERROR,
      [frameOf(0, FrameFlag.PADDED, 1, Buffer.of(9))],
    ],
    ['a frame within a block', H2Code.PROTOCOL_ERROR, [headers(1, GET, 0), headers(3)]],
    ['CONTINUATION without a block', H2Code.PROTOCOL_ERROR, [frameOf(FrameType.CONTINUATION, 4, 1, GET)]],
    [
      'CONTINUATION of another stream',
      H2Code.PROTOCOL_ERROR,
      [headers(1, GET, 0), frameOf(FrameType.CONTINUATION, 4, 3, GET)],
    ],
    [
      'CONTINUATION without end (CVE-2024-28182)',
      H2Code.ENHANCE_YOUR_CALM,
      [
        headers(1, GET, 0),
        ...Array.from({ length: 20 }, () => frameOf(FrameType.CONTINUATION, 0, 1, new Uint8Array(0))),
      ],
    ],
    ['a block that cannot be decoded', H2Code.COMPRESSION_ERROR, [headers(1, Buffer.of(0x80))]],
    [
      'trailers that do not end',
      H2Code.PROTOCOL_ERROR,
      [headers(1, POST, 4), headers(1, field('a', 'b'), 4)],
    ],
    ['PUSH_PROMISE', H2Code.PROTOCOL_ERROR, [frameOf(FrameType.PUSH_PROMISE, 4, 1, new Uint8Array(4))]],
    ['PING of another size', H2Code.FRAME_SIZE_ERROR, [frameOf(FrameType.PING, 0, 0, new Uint8Array(7))]],
    ['PING on a stream', H2Code.PROTOCOL_ERROR, [frameOf(FrameType.PING, 0, 1, new Uint8Array(8))]],
    [
      'PRIORITY of another size',
      H2Code.FRAME_SIZE_ERROR,
      [frameOf(FrameType.PRIORITY, 0, 1, new Uint8Array(4))],
    ],
    ['RST_STREAM of a stream to come', H2Code.PROTOCOL_ERROR, [frameOfWords(FrameType.RST_STREAM, 5, 8)]],
    [
      'RST_STREAM of another size',
      H2Code.FRAME_SIZE_ERROR,
      [frameOf(FrameType.RST_STREAM, 0, 1, Buffer.of(1))],
    ],
    ['SETTINGS on a stream', H2Code.PROTOCOL_ERROR, [frameOf(FrameType.SETTINGS, 0, 1, new Uint8Array(0))]],
    [
      'SETTINGS of another size',
      H2Code.FRAME_SIZE_ERROR,
      [frameOf(FrameType.SETTINGS, 0, 0, new Uint8Array(5))],
    ],
    [
      'an acknowledgement with settings',
      H2Code.FRAME_SIZE_ERROR,
      [frameOf(FrameType.SETTINGS, 1, 0, new Uint8Array(6))],
    ],
    ['a first window that is too large', H2Code.FLOW_CONTROL_ERROR, [settingsFrame([[4, 2 ** 31]])]],
    ['a frame size that is not allowed', H2Code.PROTOCOL_ERROR, [settingsFrame([[5, 100]])]],
    [
      'a window that is too large',
      H2Code.FLOW_CONTROL_ERROR,
      [frameOfWords(FrameType.WINDOW_UPDATE, 0, window)],
    ],
    ['a window of nothing', H2Code.PROTOCOL_ERROR, [frameOfWords(FrameType.WINDOW_UPDATE, 0, 0)]],
    ['a window of a stream to come', H2Code.PROTOCOL_ERROR, [frameOfWords(FrameType.WINDOW_UPDATE, 9, 1)]],
    [
      'a flood of PING',
      H2Code.ENHANCE_YOUR_CALM,
      Array<Buffer>(700).fill(frameOf(FrameType.PING, 0, 0, new Uint8Array(8))),
    ],
    ['a flood of SETTINGS', H2Code.ENHANCE_YOUR_CALM, Array<Buffer>(700).fill(settingsFrame([]))],
    [
      'a flood of empty DATA (CVE-2019-9518)',
      H2Code.ENHANCE_YOUR_CALM,
      [headers(1, POST, 4), ...Array<Buffer>(700).fill(data(1, 0))],
    ],
    [
      'a flood of resets (CVE-2023-44487)',
      H2Code.ENHANCE_YOUR_CALM,
      Array.from({ length: 700 }, (_, i) =>
        Buffer.concat([headers(2 * i + 1), frameOfWords(FrameType.RST_STREAM, 2 * i + 1, 8)]),
      ),
    ],
  ])('closes a connection that sends %s', async (_what, code, frames) => {
    send(...frames);
    expect(await goneWith()).toBe(code);
  });

  test('continues to send answers after a request that was rejected', async () => {
    send();
    await until(
      'both SETTINGS',
      () => ofType(FrameType.SETTINGS).length,
      (count) => count === 2,
    );
    const push = requests.push.bind(requests);
    requests.push = () => {
      throw new Error('a bug');
    };
    expect(() => accepted[0]!.emit('data', headers(1))).toThrow('a bug');
    requests.push = push;
    more(headers(3));
    await untilAsked(1);
    setImmediate(() => requests[0]!.end(200, {}));
    expect(await statusOf(3)).toBe('200');
  });

  test('closes a connection without the HTTP/2 preface', async () => {
    client.write('GET / HTTP/1.1\r\n\r\n');
    expect(await goneWith()).toBe(H2Code.PROTOCOL_ERROR);
  });
});
