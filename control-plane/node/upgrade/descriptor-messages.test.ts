import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ListeningSockets } from '../../../dns-worker/listeners/listening-sockets.ts';
import { openUdpSockets } from '../../../dns-worker/listeners/udp-sockets.ts';
import { boundSocket } from '../../../shared/net/kernel/bound-socket.ts';
import { WorkerControl } from '../../../shared/threads/messages.ts';
import { describeCalls, systemCalls } from '../../../test/support/parts/system-calls.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { makeTempDir } from '../../../test/support/weir/data-dir.ts';
import type { TempDir } from '../../../test/support/weir/data-dir.ts';
import { loadDescriptorCalls } from './descriptor-calls.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import { peerUser, receiveDescriptors, sendDescriptors } from './descriptor-messages.ts';
import { descriptorOf } from '../../host/descriptor-of.ts';
import { connectUnix } from './unix-connection.ts';

const TAKER = join(import.meta.dirname, '..', '..', '..', 'test', 'support', 'parts', 'descriptor-taker.ts');
const HELLO = Buffer.from('hello');

describeCalls('file descriptors over a Unix socket', () => {
  const loaded = loadDescriptorCalls();
  const calls = ('calls' in loaded ? loaded.calls : undefined) as DescriptorCalls;
  let tempDir: TempDir;
  let server: Server;
  let path: string;

  beforeEach(async () => {
    tempDir = makeTempDir();
    path = join(tempDir.path, 'passing.sock');
    server = createServer({ pauseOnConnect: true }).listen(path);
    await once(server, 'listening');
  });

  afterEach(() => {
    server.close();
    tempDir.remove();
  });

  /** Both ends of a connection within this process: the descriptor of the client, and the socket of the server. */
  async function connected(): Promise<[number, Socket]> {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const fd = connectUnix(calls, path, 5000);
    return [fd, (await within('the connection', accepted))[0]];
  }

  test('sendDescriptors() passes sockets, with all data queued in them, to another process', async () => {
    const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
    const [udp] = openUdpSockets(systemCalls, control, ['127.0.0.1'], 0);
    const listeners = new ListeningSockets(systemCalls, control);
    const [tcp] = listeners.at({ address: '127.0.0.1', port: 0 });
    const [udpAt, tcpAt] = [boundSocket(calls, udp!.fd)!, boundSocket(calls, tcp!)!];
    const client = createSocket('udp4');
    const connection = connect(tcpAt.port, '127.0.0.1');
    await within('the connection', once(connection, 'connect'));
    for (let i = 0; i < 100; i++) client.send(Uint8Array.of(i), udpAt.port, '127.0.0.1');

    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const taker = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', TAKER, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [passing] = await within('the connection of the taker', accepted);
    expect(peerUser(calls, descriptorOf(passing))).toBe(process.getuid?.());
    const answered: number[] = [];
    client.on('message', (message) => answered.push(message[0]!));
    sendDescriptors(calls, descriptorOf(passing), { bytes: HELLO, descriptors: [udp!.fd, tcp!] });
    // Descriptors that this process closes must stay open in the other one.
    systemCalls.close(udp!.fd);
    systemCalls.close(tcp!);
    listeners.close();

    expect(String((await within('the taker to take the descriptors', once(taker.stdout, 'data')))[0])).toBe(
      'took 2\n',
    );
    expect(await within('the answer over TCP', text(connection))).toBe('taken');
    await until(
      '100 answers over UDP',
      () => answered.length,
      (count) => count === 100,
    );
    expect(new Set(answered).size).toBe(100);
    taker.kill();
    await within('the taker to end', once(taker, 'exit'));
    client.close();
    passing.destroy();
  });

  test('receiveDescriptors() returns bytes that come without descriptors, and none after the peer closed the socket', async () => {
    const [fd, passing] = await connected();
    sendDescriptors(calls, descriptorOf(passing), { bytes: HELLO, descriptors: [] });
    expect(receiveDescriptors(calls, fd, 64)).toEqual({ bytes: new Uint8Array(HELLO), descriptors: [] });
    passing.destroy();
    await within('the connection to close', once(passing, 'close'));
    expect(receiveDescriptors(calls, fd, 64).bytes).toHaveLength(0);
    calls.close(fd);
  });

  test('receiveDescriptors() returns descriptors that started programs do not inherit', async () => {
    const [fd, passing] = await connected();
    const file = openSync(TAKER, 'r');
    sendDescriptors(calls, descriptorOf(passing), { bytes: HELLO, descriptors: [file] });
    const [taken] = receiveDescriptors(calls, fd, 64).descriptors;
    expect(fstatSync(taken!).ino).toBe(fstatSync(file).ino);
    const F_GETFD = 1;
    expect(calls.fcntl(taken!, F_GETFD, 0)).toBe(1);
    for (const one of [file, taken!]) closeSync(one);
    passing.destroy();
    calls.close(fd);
  });

  test('sendDescriptors() throws if no process reads, and connectUnix() if no process listens', async () => {
    const [fd, passing] = await connected();
    calls.close(fd);
    expect(() => sendDescriptors(calls, descriptorOf(passing), { bytes: HELLO, descriptors: [] })).toThrow(
      'could not pass descriptors: errno',
    );
    passing.destroy();
    expect(() => connectUnix(calls, join(tempDir.path, 'no.sock'), 5000)).toThrow('errno 2');
    expect(() => connectUnix(calls, join(tempDir.path, 'x'.repeat(200)), 5000)).toThrow('too long');
  });
});
