import { describe, expect, test } from '@jest/globals';
import { PROTOCOL_NAMES, Protocol, QUERY_STATUS_NAMES, QueryStatus } from '../query-log.ts';
import {
  answeredSlot,
  answeredWith,
  Counter,
  COUNTERS_BYTES,
  LATENCY_CLASSES,
  latencySlot,
} from './counters.ts';

describe('latencySlot()', () => {
  test.each([
    [0, 0],
    [0.9, 0],
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [1023.9, 10],
    [1024, 11],
    [2 ** 23 - 1, 23],
    [2 ** 23, 24],
    [2 ** 24, 24],
    [2 ** 31, 24],
  ])('puts %d us into class %d', (us, expected) => {
    expect(latencySlot(us) - Counter.FIRST_LATENCY).toBe(expected);
  });
});

describe('the slots of Counter', () => {
  test('are each for one thing, and within the memory', () => {
    const { FIRST_LATENCY, FIRST_ANSWERED: _first, ...single } = Counter;
    const slots: number[] = Object.values(single);
    for (let index = 0; index < LATENCY_CLASSES; index++) slots.push(FIRST_LATENCY + index);
    for (const protocol of PROTOCOL_NAMES.keys())
      for (const status of QUERY_STATUS_NAMES.keys()) slots.push(answeredSlot(protocol, status));
    expect(new Set(slots).size).toBe(slots.length);
    expect(Math.max(...slots)).toBeLessThan(COUNTERS_BYTES / 8);
  });
});

describe('answeredWith()', () => {
  test('adds up the protocols', () => {
    const counters = new Float64Array(COUNTERS_BYTES / 8);
    counters[answeredSlot(Protocol.udp, QueryStatus.CACHED)] = 3;
    counters[answeredSlot(Protocol.doh, QueryStatus.CACHED)] = 4;
    counters[answeredSlot(Protocol.udp, QueryStatus.STALE)] = 100;
    expect(answeredWith(counters, QueryStatus.CACHED)).toBe(7);
  });
});
