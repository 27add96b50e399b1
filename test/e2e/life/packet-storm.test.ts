/**
 * Storms of packets on the batch path: random packets from a fixed seed, responses, datagrams of every length. The
 * counters of the threads account for each packet, memory does not grow, and the next valid query is answered.
 * `bad-input.test.ts` tests the reply to each malformed message. WEIR_TEST_PACKETS is the number of random packets
 * (default 60,000).
 */
import type { Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { MeasuredThread } from '../../../control-plane/threads/fault-injection.ts';
import { FlagsHigh, Header } from '../../../shared/dns/wire.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { query } from '../../support/dns/dns-message.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { SeededRandom } from '../../support/dns/random-packets.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** Seed of the random packets, which is fixed so that every run finds the same faults. */
const SEED = 20_260_903;
const PACKETS = Number(process.env['WEIR_TEST_PACKETS'] ?? 60_000);
/** Number of packets to send first, so that one-time allocations do not count as growth. */
const WARM_UP_PACKETS = 20_000;
const RESPONSES = 5000;
const MAX_DATAGRAM = 65_507;
const MAX_NOISE = 600;
/** One packet in this many is a query with a few changed bytes; most of these queries reach the upstream. */
const QUERY_EVERY = 64;
/** Number of packets after which the sender waits for Weir: even the smallest receive buffers can hold this number. */
const PORTION = 200;
const LARGE = 4096;
const MIB = 1_048_576;
const GOOD_NAME = 'good.example.com';
/** A label that no random packet contains. */
const MARKER = 'end-of-the-storm';

/** Class in which a packet must be counted, from its header alone. */
type HeaderClass = 'dropped' | 'notImplemented' | 'other';

function classOf(packet: Uint8Array): HeaderClass {
  if (packet.length < Header.SIZE) return 'dropped';
  const high = packet[Header.FLAGS_HIGH]!;
  if ((high & FlagsHigh.QR) !== 0) return 'dropped';
  return (high & FlagsHigh.OPCODE) === 0 ? 'other' : 'notImplemented';
}

/** Cuts packets out of one piece of noise, because generating each separately would take longer than sending it. */
class PacketMaker {
  private readonly random: SeededRandom;
  private readonly noise: Uint8Array;
  private readonly query = query('some.name.example.net', 'A', { id: 1, edns: {} });

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.noise = Uint8Array.from({ length: MIB }, () => this.random.below(256));
  }

  next(): Uint8Array {
    const random = this.random;
    if (random.below(QUERY_EVERY) === 0) {
      const changed = this.query.slice();
      for (let changes = 1 + random.below(4); changes > 0; changes--)
        changed[random.below(changed.length)] = random.below(256);
      return changed;
    }
    const at = random.below(MIB - MAX_NOISE);
    return this.noise.subarray(at, at + random.below(MAX_NOISE));
  }
}

let upstream: ScriptedUpstream;
let weir: Weir;
let storm: Socket;
let client: UdpClient;
let replies = 0;
/** Number of marker queries that were answered. */
let markers = 0;

beforeAll(async () => {
  upstream = await startEchoingUpstream();
  weir = await Weir.start({
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    // One worker has a single socket, so a reply shows that all earlier packets were processed.
    env: { WEIR_SERVER_WORKERS: '1' },
  });
  client = await UdpClient.open(weir.dnsPort);
  storm = createSocket({ type: 'udp4', recvBufferSize: 4 * MIB });
  storm.on('message', (reply) => {
    if (reply.includes(MARKER)) markers++;
    else replies++;
  });
  storm.connect(weir.dnsPort, '127.0.0.1');
  await once(storm, 'connect');
});
afterAll(async () => {
  storm.close();
  client.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
  await upstream.close();
});
afterEach(async () => {
  await askGood();
  expect(weir.replacedThreads).toBe(0);
});

async function askGood(): Promise<void> {
  expect(await client.ask(GOOD_NAME, 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
}

/**
 * Number of replies to the storm, counted once the reply to a new query has arrived: replies on a socket are in order.
 */
async function repliesSoFar(): Promise<number> {
  const before = markers;
  storm.send(query(`${MARKER}.${String(before)}.example.com`, 'A', { id: 2 }));
  await until(
    'the reply to the last question of the storm',
    () => markers,
    (count) => count > before,
  );
  return replies;
}

async function measure(): Promise<Readonly<Record<'answer' | 'resolve', MeasuredThread>>> {
  return (await weir.measure()).workers[0]!;
}

/** Counters of both threads together. */
async function count(): Promise<(counter: string) => number> {
  const { answer, resolve } = await measure();
  return (counter) => answer.counters[counter]! + resolve.counters[counter]!;
}

/** Increase of the counters while `work` sends packets, once all packets are accounted for. */
async function countWhile(work: () => Promise<number>): Promise<(counter: string) => number> {
  const before = await count();
  const sent = await work();
  const { gained } = await until(
    `${String(sent)} packets to be accounted for, also those that got through to the upstream`,
    async () => {
      const after = await count();
      const gained = (counter: string): number => after(counter) - before(counter);
      const ended = ['DROPPED_SHORT_OR_RESPONSE', 'QUERIES', 'UNRESOLVED_DROPPED'].reduce(
        (sum, name) => sum + gained(name),
        0,
      );
      if (ended > sent) throw new Error(`count packets: ${String(ended)} of ${String(sent)}`);
      return { ended, gained };
    },
    ({ ended }) => ended === sent,
    { pauseMs: 20 },
  );
  return gained;
}

/** Sends packets with valid queries between them; resolves with the number of packets and queries. */
async function send(packets: Iterable<Uint8Array>): Promise<number> {
  let sent = 0;
  let sinceGood = 0;
  for (const packet of packets) {
    storm.send(packet);
    sent++;
    sinceGood++;
    if (sinceGood < PORTION && packet.length < LARGE) continue;
    await askGood();
    sent++;
    sinceGood = 0;
  }
  await askGood();
  return sent + 1;
}

function* randomPackets(
  amount: number,
  seed: number,
  seen: Record<HeaderClass, number>,
): Iterable<Uint8Array> {
  const maker = new PacketMaker(seed);
  for (let i = 0; i < amount; i++) {
    const packet = maker.next();
    seen[classOf(packet)]++;
    yield packet;
  }
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${String(weir.pid)}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+)/m.exec(status)![1]) * 1024;
}

describe('weir receiving a storm of packets', () => {
  test('counts each of a very large number of random packets, and its memory does not grow', async () => {
    const ignored = { dropped: 0, notImplemented: 0, other: 0 };
    // Waits until all queries of the warm-up are answered, because a query that is still at the upstream would distort
    // the next count.
    await countWhile(() => send(randomPackets(WARM_UP_PACKETS, SEED - 1, ignored)));
    const before = { rss: residentBytes(), heap: (await measure()).answer.memory!.usedHeapBytes };
    const seen = { dropped: 0, notImplemented: 0, other: 0 };
    const gained = await countWhile(() => send(randomPackets(PACKETS, SEED, seen)));
    expect(seen.dropped + seen.notImplemented + seen.other).toBe(PACKETS);
    expect(gained('DROPPED_SHORT_OR_RESPONSE')).toBe(seen.dropped);
    expect(gained('NOT_IMPLEMENTED')).toBe(seen.notImplemented);
    expect(gained('FORMAT_ERRORS')).toBeGreaterThan(0);
    expect(gained('FORMAT_ERRORS')).toBeLessThanOrEqual(seen.other);
    expect(gained('INTERNAL_ERRORS')).toBe(0);
    expect(gained('SEND_ERRORS')).toBe(0);
    // A leak of 80 bytes per packet would show in the thread's heap; a leak of a kilobyte would show in the process.
    expect((await measure()).answer.memory!.usedHeapBytes - before.heap).toBeLessThan(4 * MIB);
    expect(residentBytes() - before.rss).toBeLessThan(48 * MIB);
  });

  test('drops a storm of DNS responses and answers none of them', async () => {
    const random = new SeededRandom(SEED);
    const response = query(GOOD_NAME, 'A', { id: 1, flags: 0x8180 });
    const repliesBefore = await repliesSoFar();
    const gained = await countWhile(() =>
      send(
        (function* () {
          for (let i = 0; i < RESPONSES; i++) {
            response[Header.FLAGS_HIGH] = FlagsHigh.QR | random.below(128);
            response[Header.FLAGS_LOW] = random.below(256);
            yield response.slice();
          }
        })(),
      ),
    );
    expect(gained('DROPPED_SHORT_OR_RESPONSE')).toBe(RESPONSES);
    expect(await repliesSoFar()).toBe(repliesBefore);
  });

  test('counts datagrams of every length', async () => {
    const good = query(GOOD_NAME, 'A', { id: 1 });
    const lengths = [
      ...Array.from({ length: 2100 }, (_, length) => length),
      ...Array.from({ length: 256 }, (_, step) => 2100 + step * 247),
      MAX_DATAGRAM,
    ];
    const gained = await countWhile(() =>
      send(
        lengths.map((length) => {
          const packet = new Uint8Array(length).fill(0xff);
          packet.set(good.slice(0, length));
          return packet;
        }),
      ),
    );
    expect(gained('DROPPED_SHORT_OR_RESPONSE')).toBe(Header.SIZE);
    expect(gained('FORMAT_ERRORS')).toBe(good.length - Header.SIZE);
    expect(gained('INTERNAL_ERRORS')).toBe(0);
  });
});
