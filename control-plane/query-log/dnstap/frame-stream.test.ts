import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { DnstapReceiver } from '../../../test/support/dns/dnstap-receiver.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until } from '../../../test/support/parts/until.ts';
import { DNSTAP_CONTENT } from './dnstap-frame.ts';
import { FrameStream } from './frame-stream.ts';

/** A frame that contains only its type, "message". */
const EMPTY = Uint8Array.of(0x78, 1);

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function open(port: number): { stream: FrameStream; logger: MemoryLogger } {
  const logger = new MemoryLogger();
  const target = { host: '127.0.0.1', port };
  const stream = new FrameStream({ target, contentType: DNSTAP_CONTENT, logger });
  cleanUps.push(() => stream.close(100));
  return { stream, logger };
}

/** Sends as `Dnstap` does. */
function send(stream: FrameStream, frame: Uint8Array): void {
  if (stream.takesFrame()) stream.send(frame);
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** A receiver that accepts the connection, and then reads nothing. */
async function startStuckReceiver(): Promise<{ sockets: Socket[]; server: Server }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', (ready: Buffer) => {
      ready.writeUInt32BE(1, 8); // Replies with ACCEPT, and the same content type as in READY.
      socket.write(ready);
      socket.pause();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { sockets, server };
}

const untilConnected = (logger: MemoryLogger): Promise<unknown> =>
  until(
    'the stream to connect',
    () => logger.text(),
    (text) => text.includes('dnstap stream connected'),
  );

describe('FrameStream', () => {
  test('starts when its receiver is reachable, and counts the frames that were lost before', async () => {
    const { server } = await startStuckReceiver();
    const port = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    const { stream, logger } = open(port);
    for (let i = 0; i < 10; i++) send(stream, EMPTY);
    const receiver = new DnstapReceiver(String(port));
    cleanUps.push(() => receiver.remove());
    await untilConnected(logger);
    send(stream, EMPTY);
    await stream.close(2000);
    expect(stream.counters()).toEqual({ sent: 1, lost: 10 });
    expect((await receiver.taken()).match(/type: MESSAGE/g)).toHaveLength(1);
  });

  test('drops and counts frames if the receiver is slow, and buffers no more than 4 MiB', async () => {
    const { server, sockets } = await startStuckReceiver();
    const { stream, logger } = open(portOf(server));
    await untilConnected(logger);
    const frame = new Uint8Array(500);
    let frames = 0;
    const sendMore = (): number => {
      for (let i = 0; i < 1000; i++, frames++) send(stream, frame);
      return stream.counters().lost;
    };
    await until('frames to be lost', sendMore, Boolean, { pauseMs: 1 });
    sockets[0]!.destroy();
    await until(
      'the stream to lose its connection',
      () => logger.text(),
      (text) => text.includes('could not connect'),
    );
    await until(
      'every frame to be counted',
      () => stream.counters(),
      ({ sent, lost }) => sent + lost === frames,
    );
  });

  test('closes a connection to a receiver that does not use the Frame Streams protocol, and logs that', async () => {
    const server = createServer((socket) =>
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUps.push(() => server.close());
    const { logger } = open(portOf(server));
    await until(
      'the log to report another protocol',
      () => logger.text(),
      (text) => text.includes('violates the Frame Streams protocol'),
    );
  });
});
