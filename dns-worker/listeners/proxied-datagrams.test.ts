import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { query, Reply } from '../../test/support/dns/dns-message.ts';
import { RunningWorker } from '../../test/support/parts/running-worker.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { LogRing, LogRecord } from '../../shared/query-log.ts';
import { addressToText } from '../../shared/net/ip.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const ADS = snapshotOf([{ text: '||ads.example^', reading: BLOCK }], {}, 1);
/** A header of PROXY protocol v2 that names 192.0.2.99. */
const HEADER = Buffer.from('0d0a0d0a000d0a515549540a2112000cc0000263c633640112340035', 'hex');
const LOCAL = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');

let sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.close();
  sockets = [];
});

/** Sends datagrams from 127.0.0.1 and resolves with the reply to the last datagram. */
async function ask(port: number, ...datagrams: Uint8Array[]): Promise<Reply> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.connect(port, '127.0.0.1');
  await within('the socket to connect', once(socket, 'connect'));
  for (const datagram of datagrams) socket.send(datagram);
  const [reply] = (await within('the reply', once(socket, 'message'))) as [Buffer];
  return new Reply(reply, '');
}

/** Clients of the records in a log ring, in order. */
function clientsIn(log: SharedArrayBuffer): string[] {
  const records = Atomics.load(new Int32Array(log), LogRing.HEAD_WORD);
  return Array.from({ length: records }, (_, i) => {
    const at = LogRing.RECORDS_BYTE + i * LogRecord.SIZE + LogRecord.CLIENT;
    return addressToText(new Uint8Array(log, at, 16).slice());
  });
}

describe('ProxiedDatagrams (PROXY protocol over UDP)', () => {
  test.each(['auto', 'dgram'] as const)(
    'reports the client named in the header, with back end %s',
    async (udpBackend) => {
      const roles = udpBackend === 'dgram' ? (['resolve'] as const) : (['resolve', 'answer'] as const);
      await using worker = await RunningWorker.start(ADS, {
        roles,
        settings: { proxyProtocol: ['127.0.0.1'], udpBackend },
      });
      const message = query('x.ads.example', 'A', { id: 9 });
      const reply = await ask(
        worker.port,
        message, // No reply without a header.
        HEADER, // No reply without a query.
        HEADER.subarray(0, 20),
        Buffer.concat([HEADER, query('x.ads.example', 'A', { id: 8 })]),
      );
      expect([reply.id, reply.data]).toEqual([8, ['0.0.0.0']]);
      expect((await ask(worker.port, Buffer.concat([LOCAL, message]))).id).toBe(9);
      const log = udpBackend === 'dgram' ? worker.memory.resolveLog : worker.memory.answerLog;
      // A row of the query log is written after the answer is sent.
      await until(
        'both rows to be written',
        () => clientsIn(log),
        (all) => all.length === 2,
      );
      expect(clientsIn(log)).toEqual(['192.0.2.99', '127.0.0.1']);
    },
  );

  test('applies limits and cookies to the client named in the header (CVE-2026-24029, CVE-2026-54478)', async () => {
    const rateLimit = rateLimitOf({ queriesPerSecond: 1, burstSize: 1, ipv4PrefixLength: 32 });
    await using worker = await RunningWorker.start(ADS, {
      settings: { proxyProtocol: ['127.0.0.1'], rateLimit },
    });
    const from = (lastOctet: number, cookie?: Uint8Array): Buffer => {
      const header = Buffer.from(HEADER);
      header[19] = lastOctet;
      return Buffer.concat([header, query('x.ads.example', 'A', { edns: { cookie } })]);
    };
    const baked = await ask(worker.port, from(1, new Uint8Array(8).fill(7)));
    expect([baked.data, baked.cookie?.length]).toEqual([['0.0.0.0'], 24]);
    const flood = Array.from({ length: 50 }, () => from(1));
    expect((await ask(worker.port, ...flood, from(2))).rcode).toBe(5);
    // The cookie proves the address for which it was created, and not another address behind the load balancer.
    const own = await ask(worker.port, from(1, baked.cookie));
    expect([own.data, own.cookie]).toEqual([['0.0.0.0'], baked.cookie]);
    const other = await ask(worker.port, from(3, baked.cookie));
    expect(other.data).toEqual(['0.0.0.0']);
    expect(other.cookie).not.toEqual(baked.cookie);
  });

  test('ignores headers from untrusted senders, which are treated as clients', async () => {
    await using worker = await RunningWorker.start(ADS, { settings: { proxyProtocol: ['192.0.2.0/24'] } });
    const message = query('x.ads.example', 'A', { id: 9 });
    const reply = await ask(worker.port, Buffer.concat([HEADER, message]), message);
    // The header is read as a request with an unknown opcode.
    expect(reply.rcode).toBe(4);
    const clients = (): string[] => clientsIn(worker.memory.answerLog);
    await until('the row to be written', clients, (all) => all.length > 0);
    expect(clients()).toEqual(['127.0.0.1']);
  });
});
