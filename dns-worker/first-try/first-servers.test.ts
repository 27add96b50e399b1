import { beforeEach, describe, expect, test } from '@jest/globals';
import { latencyClass, LATENCY_CLASSES } from '../../shared/memory/answer-counters.ts';
import {
  createFirstServers,
  firstServerAt,
  FirstServerRecord,
  FirstServersHead,
  RECENT_LATENCIES,
} from '../../shared/memory/first-server-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { DEFAULT_HARDENING, type HardeningSettings } from '../../shared/policy/hardening-settings.ts';
import { POOL_STRATEGIES } from '../../shared/policy/upstream-settings.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { Capabilities } from '../resolve/capability/capabilities.ts';
import { type FirstServer, FirstServers } from './first-servers.ts';

const QNAME = Uint8Array.of(3, 0x77, 0x77, 0x77, 7, 0x65, 0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0);
const { SEQUENCE_WORD, RESOLVER_WORD, COUNT_WORD, STRATEGY_WORD, ORDER_WORD } = FirstServersHead;

let memory: SharedArrayBuffer;
let head: Int32Array;
beforeEach(() => {
  memory = createFirstServers();
  head = new Int32Array(memory, 0, FirstServersHead.SERVERS_BYTE / 4);
  head[STRATEGY_WORD] = POOL_STRATEGIES.indexOf('Parallel');
});

function readerWith(hardening: HardeningSettings = DEFAULT_HARDENING): FirstServers {
  return new FirstServers(memory, new Capabilities(new TestClock()), hardening);
}

/** Writes a server at its place. */
function putServer(place: number, number: number, ip = '192.0.2.1', port = 53): void {
  const at = firstServerAt(place);
  new Uint8Array(memory, at, 16).set(addressFromText(ip)!);
  const words = new Int32Array(memory, at);
  words[FirstServerRecord.PORT / 4] = port;
  words[FirstServerRecord.NUMBER / 4] = number;
}

/** Writes the positions of the servers to query, in this order. */
function putOrder(...places: number[]): void {
  head[COUNT_WORD] = places.length;
  head.set(places, ORDER_WORD);
}

/** Servers to which the next question is sent. */
function chosenBy(reader: FirstServers): FirstServer[] {
  if (!reader.follow()) return [];
  const list: (FirstServer | null)[] = [];
  const count = reader.choose(list);
  return list.slice(0, count).map((server) => server!);
}

const numbers = (reader: FirstServers): number[] => chosenBy(reader).map(({ number }) => number);

describe('FirstServers.follow(), which reads the upstream servers from shared memory,', () => {
  test('returns the servers that were completely written', () => {
    const reader = readerWith();
    expect(numbers(reader)).toEqual([]);
    putServer(0, 4);
    putServer(1, 9);
    putOrder(1, 0);
    head[SEQUENCE_WORD] = 2;
    expect(numbers(reader)).toEqual([9, 4]);
  });

  test('returns no servers during a write, and all servers after it', () => {
    const reader = readerWith();
    putServer(0, 4);
    putOrder(0);
    head[SEQUENCE_WORD] = 2;
    expect(numbers(reader)).toEqual([4]);
    head[SEQUENCE_WORD] = 3;
    expect(numbers(reader)).toEqual([]);
    expect(numbers(reader)).toEqual([]);
    putServer(0, 5);
    head[RESOLVER_WORD] = 1;
    head[SEQUENCE_WORD] = 4;
    expect(numbers(reader)).toEqual([5]);
  });

  test('discards a server that changed while it was read', () => {
    const reader = readerWith();
    putServer(0, 4, '192.0.2.1');
    putOrder(0);
    head[SEQUENCE_WORD] = 3;
    expect(numbers(reader)).toEqual([]);
    putServer(0, 5, '192.0.2.2');
    head[SEQUENCE_WORD] = 4;
    const [server] = chosenBy(reader);
    expect([server!.number, server!.address.bytes[7]]).toEqual([5, 2]);
  });

  test('keeps the server objects of a resolver when only their order changes', () => {
    const reader = readerWith();
    putServer(0, 4);
    putServer(1, 9);
    putOrder(0, 1);
    head[SEQUENCE_WORD] = 2;
    const [first, second] = chosenBy(reader);
    putOrder(1, 0);
    head[SEQUENCE_WORD] = 4;
    const [other, same] = chosenBy(reader);
    expect(other).toBe(second);
    expect(same).toBe(first);
  });

  test('replaces the server objects when the resolver changes', () => {
    const reader = readerWith();
    putServer(0, 4);
    putOrder(0);
    head[SEQUENCE_WORD] = 2;
    const [before] = chosenBy(reader);
    head[RESOLVER_WORD] = 1;
    head[SEQUENCE_WORD] = 4;
    const [after] = chosenBy(reader);
    expect(after).not.toBe(before);
    expect([reader.isCurrent(before!), reader.isCurrent(after!)]).toEqual([false, true]);
  });
});

describe('FirstServer, an upstream server in shared memory,', () => {
  function only(reader = readerWith()): FirstServer {
    putServer(0, 4, '192.0.2.7', 5353);
    putOrder(0);
    head[SEQUENCE_WORD] = 2;
    return chosenBy(reader)[0]!;
  }

  test('waitMs() is random between the current minimum and maximum wait', () => {
    const server = only();
    const bounds = new Int32Array(memory, firstServerAt(0) + FirstServerRecord.MIN_WAIT_MS, 2);
    bounds.set([200, 600]);
    expect([0, 0.5, 1].map((random) => server.waitMs(random))).toEqual([200, 400, 600]);
    bounds.set([100, 100]);
    expect(server.waitMs(0.5)).toBe(100);
  });

  test('noteAnswered() writes the latency, its class, the sum of latencies and the time of each answer', () => {
    const server = only();
    const at = firstServerAt(0);
    for (let i = 0; i < RECENT_LATENCIES + 1; i++) server.noteAnswered(i, 1000 + i);
    const recent = new Float32Array(memory, at + FirstServerRecord.RECENT, RECENT_LATENCIES);
    expect([recent[0], recent[1], recent[63]]).toEqual([64, 1, 63]);
    const [lastMs, sumMs] = new Float64Array(memory, at + FirstServerRecord.LAST_ANSWER_MS, 2);
    expect([lastMs, sumMs]).toEqual([1064, (64 * 65) / 2]);
    const classes = new Int32Array(memory, at + FirstServerRecord.CLASSES, LATENCY_CLASSES);
    expect(classes[latencyClass(64_000)]).toBeGreaterThan(0);
    expect(classes.reduce((sum, count) => sum + count, 0)).toBe(65);
    const counts = new Int32Array(memory, at + FirstServerRecord.ASKED, 2);
    expect([...counts]).toEqual([0, 65]);
  });

  test('noteAsked() counts queries in flight and in total', () => {
    const server = only();
    server.noteAsked();
    server.noteAsked();
    server.inFlight--;
    expect(server.inFlight).toBe(1);
    expect(new Int32Array(memory, firstServerAt(0))[FirstServerRecord.ASKED / 4]).toBe(2);
  });

  test('adds mixed case and cookies to queries according to the settings', () => {
    const on = { cookies: 'on', caseRandomization: 'on' } as const;
    expect(only(readerWith(on)).hardening.marks(QNAME, true)?.features).toEqual(['case', 'cookies']);
    expect(only(readerWith()).hardening.marks(QNAME, true)).toBeNull();
  });
});
