import { createSocket } from 'node:dgram';
import type { RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { LOCAL_HEADER } from '../../test/support/parts/proxy-headers.ts';
import { within } from '../../test/support/parts/until.ts';
import { decodeMessage, encodeMessage } from '../../shared/dns/codec.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import type { Answer } from '../../shared/dns/codec.ts';
import { checkReady } from './check-ready.ts';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** Starts a server that answers queries with these texts in turn; returns its port. */
async function answering(...texts: readonly string[]): Promise<number> {
  const server = createSocket('udp4');
  cleanups.push(() => server.close());
  server.on('message', (bytes, from) => {
    const query = decodeMessage(bytes)!;
    const [{ name } = { name: '' }] = query.questions ?? [];
    const answers = texts.map((data): Answer => ({ name, type: 'TXT', class: 'CH', data }));
    const reported = name === 'status.weir' ? answers : [];
    server.send(encodeMessage({ ...query, type: 'response', answers: reported }), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

/** Output and exit status of the command. */
function run(...ports: readonly number[]): Promise<readonly [status: number, output: string]> {
  return runWith(new ProxySenders(null), ports);
}

async function runWith(
  senders: ProxySenders,
  ports: readonly number[],
): Promise<readonly [status: number, output: string]> {
  const output: string[] = [];
  const terminal = { out: (line: string) => output.push(line), err: (line: string) => output.push(line) };
  const status = await checkReady({ addresses: ['::', '0.0.0.0'], ports, senders }, terminal);
  return [status, output.join('\n')];
}

describe('checkReady()', () => {
  test('succeeds only if the node is ready', async () => {
    expect(await run(await answering('ready'))).toEqual([0, 'ready']);
    for (const state of ['starting', 'draining']) {
      const port = await answering(state);
      expect(await run(port)).toEqual([1, `weir: 127.0.0.1 port ${String(port)} is ${state}`]);
    }
  });

  test.each([
    [['127.0.0.0/8'], true],
    [['192.0.2.0/24'], false],
    [[], false],
    [null, false],
  ])(
    'with the networks %j in server.proxy_protocol_trusted sends a PROXY header: %s',
    async (trusted, sent) => {
      const server = createSocket('udp4').bind(0, '127.0.0.1');
      cleanups.push(() => server.close());
      await once(server, 'listening');
      const asked = once(server, 'message') as Promise<[Buffer, RemoteInfo]>;
      const ended = runWith(new ProxySenders(trusted), [server.address().port]);
      const [bytes, from] = await within('the question', asked);
      const size = sent ? LOCAL_HEADER.length : 0;
      expect(bytes.subarray(0, size)).toEqual(LOCAL_HEADER.subarray(0, size));
      const query = decodeMessage(bytes.subarray(size))!;
      expect(query.questions).toMatchObject([{ name: 'status.weir' }]);
      server.send(encodeMessage({ ...query, type: 'response' }), from.port, from.address);
      await ended;
    },
  );

  test('tries the next port if another server, or no server, listens on the first port', async () => {
    expect(await run(await answering(), await answering('ready'))).toEqual([0, 'ready']);
    expect(await run(await answering(), await answering('starting'))).toEqual([
      1,
      expect.stringMatching(/dns\.chaos_clients.*\n.* is starting$/),
    ]);
  });

  test('names the setting to change if the node hides its state from this machine', async () => {
    expect(await run(await answering())).toEqual([1, expect.stringContaining('dns.chaos_clients')]);
  });

  test('fails immediately if no server listens', async () => {
    const server = createSocket('udp4');
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await within('the socket to close', once(server, 'close'));
    expect(await run(port)).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
  });

  test('gives up on a server that never responds', async () => {
    const silent = createSocket('udp4');
    cleanups.push(() => silent.close());
    silent.bind(0, '127.0.0.1');
    await once(silent, 'listening');
    expect(await run(silent.address().port)).toEqual([1, expect.stringContaining('does not answer')]);
  });
});
