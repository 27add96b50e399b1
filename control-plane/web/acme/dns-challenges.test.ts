/** DNS servers with odd replies; acme-certificate.test.ts tests BIND. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { dnsResponder, readTsigKey } from './dns-challenges.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const PROOFS = [{ name: 'a.example.org', token: 't', keyAuthorization: 't.k' }];

/** The message with the bit of a response. */
function asResponse(message: Buffer): Buffer {
  const answer = Buffer.from(message);
  answer[2]! |= 0x80;
  return answer;
}

/** A reply with an SOA of the queried name, whose numbers are zero. */
function soaOf(message: Buffer): Buffer {
  const answer = asResponse(message);
  answer[7] = 1;
  const soa = Buffer.concat([Buffer.from([0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 0, 0, 22, 0, 0]), Buffer.alloc(20)]);
  return Buffer.concat([answer, soa]);
}

const isUpdate = (message: Buffer): boolean => (message[2]! & 0x78) === 0x28;
/** Type TXT with the class that removes a record. */
const REMOVED = Buffer.of(0, 16, 0, 254);

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Port of a server that answers each message with these bytes; null closes the connection. */
function serverWith(reply: (message: Buffer) => Buffer | null): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk: Buffer) => {
      const answer = reply(chunk.subarray(2));
      if (answer !== null)
        socket.write(Buffer.concat([Buffer.of(answer.length >> 8, answer.length), answer]));
      socket.end();
    });
  });
  return portOf(server);
}

function responderAt(port: number, more: Partial<Parameters<typeof dnsResponder>[0]> = {}) {
  return dnsResponder({
    ...{ host: '127.0.0.1', port, key: null, waitMs: 0, nowMs: () => 0, logger: new MemoryLogger() },
    signal: new AbortController().signal,
    ...more,
  });
}

/** Fault of a proof at a server with these answers. */
async function faultAt(reply: (message: Buffer) => Buffer | null): Promise<string> {
  const responder = responderAt(await serverWith(reply));
  const [outcome] = await Promise.allSettled([responder.put(PROOFS)]);
  await responder.remove();
  return String((outcome as PromiseRejectedResult).reason);
}

describe('dnsResponder(), which updates the zone for ACME challenges,', () => {
  test.each([
    ['closes the connection', () => null, /closed/],
    [
      'answers another request',
      (message: Buffer) => Buffer.concat([Buffer.of(0xff ^ message[0]!), message.subarray(1)]),
      /another request/,
    ],
    ['answers with too few bytes', () => Buffer.alloc(3), /another request/],
    ['sends the question back', (message: Buffer) => message, /another request/],
    ['has no SOA', asResponse, /has no zone for _acme-challenge\.a\.example\.org/],
  ])('reports a server that %s', async (_what, reply, expected) => {
    expect(await faultAt(reply)).toMatch(expected);
  });
});

test('dnsResponder() waits for secondary servers before the ACME server may check the record', async () => {
  const stop = new AbortController();
  const events: string[] = [];
  const soaAndUpdate = (message: Buffer): Buffer => {
    events.push(isUpdate(message) ? 'update' : 'soa');
    // The pause after the update would take a day, but ends with the order.
    if (isUpdate(message)) setImmediate(() => stop.abort(new Error('stopped')));
    return isUpdate(message) ? asResponse(message) : soaOf(message);
  };
  const put = responderAt(await serverWith(soaAndUpdate), { waitMs: 86_400_000, signal: stop.signal }).put(
    PROOFS,
  );
  await expect(put).rejects.toThrow('aborted');
  expect(events).toEqual(['soa', 'update']);
});

test('dnsResponder() stops waiting for a server that sends an answer byte by byte, and closes the connection', async () => {
  const closed = Promise.withResolvers<null>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // The start of a reply of 65,535 bytes.
    socket.write(Buffer.of(0xff, 0xff));
    const timer = setInterval(() => socket.write(Buffer.of(0)), 1);
    socket.once('close', () => {
      clearInterval(timer);
      closed.resolve(null);
    });
  });
  const responder = responderAt(await portOf(server), { timeoutMs: 50 });
  await expect(responder.put(PROOFS)).rejects.toThrow('no answer within 0.05 s');
  await closed.promise;
});

test('dnsResponder() removes the records of an update whose answer was lost', async () => {
  const updates: string[] = [];
  const logger = new MemoryLogger();
  const port = await serverWith((message) => {
    if (!isUpdate(message)) return soaOf(message);
    updates.push(message.includes(REMOVED) ? 'remove' : 'add');
    return updates.length === 1 ? null : asResponse(message);
  });
  const responder = responderAt(port, { logger });
  await expect(responder.put(PROOFS)).rejects.toThrow('the connection was closed');
  await responder.remove();
  expect([updates, logger.lines]).toEqual([['add', 'remove'], []]);
});

test('dnsResponder() rejects a reply that reports success but is not signed with the key of the update', async () => {
  const port = await serverWith((message) => (isUpdate(message) ? asResponse(message) : soaOf(message)));
  const key = { name: 'weir-key', algorithm: 'hmac-sha256', secret: Buffer.from('secret') } as const;
  await expect(responderAt(port, { key }).put(PROOFS)).rejects.toThrow('its signature is wrong');
});

test('readTsigKey() accepts base64 only on one line, and never shows the key in an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tsig-'));
  const path = join(folder, 'key');
  try {
    await writeFile(path, 'c2VjcmV0\n');
    expect((await readTsigKey('k', 'hmac-sha256', path)).secret).toEqual(Buffer.from('secret'));
    for (const text of ['', 'key "x" { secret "c2VjcmV0"; };', 'c2Vj\ncmV0']) {
      await writeFile(path, text);
      await expect(readTsigKey('k', 'hmac-sha256', path)).rejects.toThrow(
        'server.acme.tsig_key_file must contain the secret in base64, on one line',
      );
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
