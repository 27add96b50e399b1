/**
 * Messages that no client should send: each kind gets the outcome that the RFCs specify, no thread ends, and the server
 * continues to answer all other clients.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Opcode, Rcode, RRClass, RRType } from '../../../shared/dns/iana.ts';
import { octets, u16 } from '../../support/dns/built-messages.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { randomPacket, SeededRandom } from '../../support/dns/random-packets.ts';
import { askOverTcp, TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { nameOctets, query } from '../../support/dns/dns-message.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const NAME = 'some.example.com';
/** Number of random packets for each back end; `packet-storm.test.ts` sends more packets to the batch back end. */
const RANDOM_PACKETS = Number(process.env['WEIR_TEST_PACKETS'] ?? 4000);
const PORTION = 200;
/** Seed of the random packets, which is fixed so that every run finds the same faults. */
const SEED = 20_260_822;
const MAX_DATAGRAM = 65_507;
const MAX_MESSAGE = 65_535;

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream.close());

/** Header of a query with these counts, and the bytes that follow. */
function message(
  counts: readonly [number, number, number, number],
  ...rest: (Uint8Array | readonly number[])[]
): Uint8Array {
  return octets([0x12, 0x34, 0x01, 0], counts.flatMap(u16), ...rest);
}

const QUESTION = octets(nameOctets(NAME), u16(RRType.A), u16(RRClass.IN));
const OPT = [0, ...u16(RRType.OPT), ...u16(1232), 0, 0, 0, 0, 0, 0];
const LABEL_63 = [63, ...Array<number>(63).fill(0x61)];

const MALFORMED: readonly (readonly [string, Uint8Array])[] = [
  ['no question', message([0, 0, 0, 0])],
  ['a question that is counted but missing', message([1, 0, 0, 0])],
  ['two questions', message([2, 0, 0, 0], QUESTION, QUESTION)],
  ['65,535 questions', message([65_535, 0, 0, 0], QUESTION)],
  ['a name that is truncated', message([1, 0, 0, 0], QUESTION.slice(0, 7))],
  ['a name without an end', message([1, 0, 0, 0], nameOctets(NAME).slice(0, -1))],
  ['a type that is truncated', message([1, 0, 0, 0], QUESTION.slice(0, -3))],
  ['a label of the reserved kind 01', message([1, 0, 0, 0], [0x41, 0x61, 0], u16(1), u16(1))],
  ['a label of the reserved kind 10', message([1, 0, 0, 0], [0x81, 0x61, 0], u16(1), u16(1))],
  ['a compression pointer to itself', message([1, 0, 0, 0], [0xc0, 12], u16(1), u16(1))],
  ['a compression pointer past the end', message([1, 0, 0, 0], [0xff, 0xff], u16(1), u16(1))],
  ['a name of 256 bytes', message([1, 0, 0, 0], ...Array<number[]>(4).fill(LABEL_63), [0], u16(1), u16(1))],
  ['an additional record that is missing', message([1, 0, 0, 1], QUESTION)],
  ['an additional record that is truncated', message([1, 0, 0, 1], QUESTION, OPT.slice(0, -2))],
  ['an option that is longer than the message', message([1, 0, 0, 1], QUESTION, OPT.slice(0, -2), u16(500))],
  ['two OPT records', message([1, 0, 0, 2], QUESTION, OPT, OPT)],
  ['an answer record that is missing', message([1, 1, 0, 0], QUESTION)],
  ['the type OPT as a question', query(NAME, RRType.OPT, { id: 0x1234 })],
];

describe.each(BACK_ENDS)('weir receiving bad input, back end %s', (backEnd) => {
  let weir: Weir;
  let udp: UdpClient;
  /** Connections that stay idle until the last test of the block. */
  let idlers: TcpClient[] = [];
  const startIdlers = async (): Promise<TcpClient[]> => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => TcpClient.open(weir.dnsPort)));
    clients[1]!.socket.write(Uint8Array.of(0));
    clients[2]!.socket.write(octets(u16(500), query(NAME, 'A')));
    clients[3]!.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return clients;
  };

  beforeAll(async () => {
    weir = await Weir.start({ backEnd, upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    udp = await UdpClient.open(weir.dnsPort);
    idlers = await startIdlers();
  });
  afterAll(async () => {
    udp.close();
    for (const client of idlers) await client.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  /** Expects that other clients are served and that no thread has ended. */
  async function expectGoesOn(): Promise<void> {
    using other = await UdpClient.open(weir.dnsPort);
    expect(await other.ask(NAME, 'A')).toMatchObject({ rcode: Rcode.NOERROR, data: [EVERY_ADDRESS] });
    expect(await askOverTcp(weir.dnsPort, NAME, 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    expect(weir.replacedThreads).toBe(0);
  }

  test.each(MALFORMED)('answers a message with %s with FORMERR, over UDP and TCP', async (_what, bytes) => {
    const overUdp = await udp.exchange(bytes);
    expect(overUdp).toMatchObject({ rcode: Rcode.FORMERR, answers: [] });
    await using tcp = await TcpClient.open(weir.dnsPort);
    const overTcp = await tcp.exchange(bytes);
    expect(overTcp).toMatchObject({ rcode: Rcode.FORMERR, answers: [] });
    // RFC 1035 section 4.1.1: the ID and the opcode are copied, QR is set.
    for (const {
      id,
      message: { flag_qr: isResponse },
    } of [overUdp, overTcp])
      expect({ id, isResponse }).toEqual({ id: 0x1234, isResponse: true });
  });

  test('answers every opcode except QUERY with NOTIMP', async () => {
    for (let opcode = 0; opcode < 16; opcode++) {
      const reply = await udp.exchange(query(NAME, 'A', { id: opcode, flags: 0x0100 | (opcode << 11) }));
      expect(reply).toMatchObject({
        rcode: opcode === Opcode.QUERY ? Rcode.NOERROR : Rcode.NOTIMP,
        id: opcode,
      });
      expect((reply.bytes[2]! >> 3) & 0xf).toBe(opcode);
    }
  });

  test.each([
    ['another class', query(NAME, 'A', { id: 1, qclass: RRClass.CH }), Rcode.REFUSED],
    ['the class ANY', query(NAME, 'A', { id: 1, qclass: 255 }), Rcode.REFUSED],
    ['a zone transfer', query(NAME, RRType.AXFR, { id: 1 }), Rcode.REFUSED],
    ['the type TKEY', query(NAME, RRType.TKEY, { id: 1 }), Rcode.NOTIMP],
  ])('rejects a query with %s', async (_what, bytes, rcode) => {
    expect(await udp.exchange(bytes)).toMatchObject({ rcode, answers: [] });
  });

  test('does not answer responses or messages shorter than a DNS header', async () => {
    const response = query(NAME, 'A', { id: 7, flags: 0x8180 });
    for (let length = 0; length < 12; length++) await udp.send(query(NAME, 'A').slice(0, length));
    for (let i = 0; i < 20; i++) await udp.send(response);
    // Replies of a worker arrive in order, so any earlier reply would have arrived before this reply.
    await udp.ask(NAME, 'A');
    expect(udp.unexpected).toEqual([]);
    await using tcp = await TcpClient.open(weir.dnsPort);
    tcp.send(response);
    expect((await tcp.ask(NAME, 'A')).data).toEqual([EVERY_ADDRESS]);
  });

  test('answers a query truncated at any length with FORMERR, and ignores bytes after a complete query', async () => {
    const whole = query(NAME, 'A', { id: 99, edns: {} });
    for (let length = 12; length < whole.length; length++)
      expect(await udp.exchange(whole.slice(0, length))).toMatchObject({ rcode: Rcode.FORMERR });
    const plain = query(NAME, 'A', { id: 99 });
    for (const size of [plain.length, 512, 1232, 1500, 2047, 2048, 2049, 4096, 9000, MAX_DATAGRAM]) {
      const padded = new Uint8Array(size).fill(0xff);
      padded.set(plain);
      expect(await udp.exchange(padded)).toMatchObject({ rcode: Rcode.NOERROR, data: [EVERY_ADDRESS] });
    }
  });

  test('survives datagrams of every size near a size limit', async () => {
    const edges = [
      0,
      1,
      11,
      12,
      13,
      16,
      17,
      28,
      255,
      256,
      511,
      512,
      513,
      1231,
      1232,
      1233,
      2046,
      2047,
      2048,
      2049,
      4095,
      4096,
      32_768,
      MAX_DATAGRAM,
    ];
    for (const size of edges)
      for (const fill of [0x00, 0x01, 0x3f, 0x40, 0xc0, 0xff])
        await udp.send(new Uint8Array(size).fill(fill));
    await expectGoesOn();
  });

  test('keeps answering after random packets', async () => {
    const random = new SeededRandom(SEED);
    using noisy = await UdpClient.open(weir.dnsPort);
    for (let sent = 0; sent < RANDOM_PACKETS; sent += PORTION) {
      await Promise.all(Array.from({ length: PORTION }, () => noisy.send(randomPacket(random))));
      // A reply to a valid query shows that Weir has processed the batch; the kernel drops packets that exceed the
      // socket buffers.
      await noisy.ask(NAME, 'A');
    }
    await expectGoesOn();
    expect(noisy.unexpected.length).toBeGreaterThan(0);
    for (const reply of noisy.unexpected) {
      expect(reply[2]! & 0x80).toBe(0x80);
      // The upstream answers every question, so a SERVFAIL would be Weir's fault.
      expect(reply[3]! & 0xf).not.toBe(Rcode.SERVFAIL);
      expect(reply.length).toBeGreaterThanOrEqual(12);
      expect(reply.length).toBeLessThanOrEqual(1232);
    }
  });

  test('accepts a TCP message of 65,535 bytes', async () => {
    const head = query(NAME, 'A', { id: 5, edns: {} });
    // An EDNS padding option (RFC 7830) fills the rest.
    const optionSize = MAX_MESSAGE - head.length - 4;
    const padded = octets(
      head.slice(0, -2),
      u16(optionSize + 4),
      u16(12),
      u16(optionSize),
      new Uint8Array(optionSize),
    );
    expect(padded).toHaveLength(MAX_MESSAGE);
    await using tcp = await TcpClient.open(weir.dnsPort);
    expect(await tcp.exchange(padded)).toMatchObject({ rcode: Rcode.NOERROR, data: [EVERY_ADDRESS], id: 5 });
    const garbage = new Uint8Array(MAX_MESSAGE).fill(0x3f);
    garbage.set(query(NAME, 'A').slice(0, 12));
    expect(await tcp.exchange(garbage)).toMatchObject({ rcode: Rcode.FORMERR });
    expect(await tcp.exchange(padded)).toMatchObject({ rcode: Rcode.NOERROR });
  });

  test.each([0, 1, 11])('closes a TCP connection on which a message of %s bytes arrives', async (length) => {
    await using tcp = await TcpClient.open(weir.dnsPort);
    tcp.send(new Uint8Array(length));
    await tcp.closed;
    await expectGoesOn();
  });

  test('answers a TCP query that arrives byte by byte, and a query whose client half-closes the connection', async () => {
    await using dripping = await TcpClient.open(weir.dnsPort);
    const bytes = query(NAME, 'A');
    for (const octet of octets(u16(bytes.length), bytes)) {
      dripping.socket.write(Uint8Array.of(octet));
      await sleep(1);
    }
    expect(await dripping.messages(1)).toHaveLength(1);
    await using halfClosed = await TcpClient.open(weir.dnsPort);
    halfClosed.socket.end(octets(u16(bytes.length), bytes));
    expect(await halfClosed.messages(1)).toHaveLength(1);
    await halfClosed.closed;
  });

  test('keeps answering when clients disappear before their answers', async () => {
    for (let round = 0; round < 20; round++) {
      await using tcp = await TcpClient.open(weir.dnsPort);
      for (let i = 0; i < 100; i++)
        tcp.send(query(`${String(i)}.gone${String(round)}.example.com`, 'A', { id: i }));
      tcp.socket.resetAndDestroy();
    }
    await expectGoesOn();
  });

  test('limits the connections of one client, and accepts new connections once old ones are closed', async () => {
    const clients = await Promise.all(Array.from({ length: 300 }, () => TcpClient.open(weir.dnsPort)));
    const served = await Promise.all(
      clients.map(async (client) => {
        client.send(query(NAME, 'A'));
        return (await client.messages(1)).length === 1;
      }),
    );
    expect(served).toContain(true);
    expect(served).toContain(false);
    using other = await UdpClient.open(weir.dnsPort);
    expect(await other.ask(NAME, 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    await Promise.all(clients.map((client) => client.close()));
    // The server notices the closed connections after a delay.
    const api = await weir.api();
    await until(
      `no connections but the ${String(idlers.length)} idle ones`,
      async () => {
        const open = (await api.metrics()).find('weir_dns_connections');
        return open.reduce((sum, { value }) => sum + value, 0);
      },
      (open) => open <= idlers.length,
      { pauseMs: 50 },
    );
    await expectGoesOn();
  });

  test('closes connections on which no complete message arrives in time', async () => {
    await Promise.all(idlers.map((client) => client.closed));
    await expectGoesOn();
  });
});
