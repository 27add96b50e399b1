import { describe, expect, test } from '@jest/globals';
import {
  DNSSEC_STATUS_NAMES,
  PROTOCOL_NAMES,
  Protocol,
  QUERY_STATUS_NAMES,
  QueryStatus,
} from '../query-log.ts';
import {
  ANSWER_SOURCES,
  answeredSlot,
  answeredWith,
  COUNTED_TYPES,
  COUNTERS_BYTES,
  dnssecSlot,
  LATENCY_CLASSES,
  latencyClass,
  latencySlot,
  LIMIT_REASONS,
  limitSlot,
  NODATA_SLOT,
  OTHER_RCODE_SLOT,
  rcodeSlot,
  timeSlot,
  typeSlot,
} from './answer-counters.ts';
import { RRType } from '../dns/iana.ts';
import { Counter, SINGLE_SLOTS } from './counters.ts';

describe('latencyClass(), which groups latencies by powers of two,', () => {
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
    expect(latencyClass(us)).toBe(expected);
  });
});

describe('the slots of the answer counters', () => {
  test('have one meaning each, and are within the allocated memory', () => {
    const slots: number[] = Object.values(Counter);
    expect(Math.max(...slots)).toBeLessThan(SINGLE_SLOTS);
    for (const source of ANSWER_SOURCES.keys()) {
      slots.push(timeSlot(source));
      for (let index = 0; index < LATENCY_CLASSES; index++) slots.push(latencySlot(source, 2 ** index - 1));
    }
    for (const protocol of PROTOCOL_NAMES.keys())
      for (const status of QUERY_STATUS_NAMES.keys()) slots.push(answeredSlot(protocol, status));
    for (let rcode = 0; rcode <= NODATA_SLOT; rcode++) slots.push(rcodeSlot(rcode, 1));
    slots.push(rcodeSlot(0, 0), typeSlot(0));
    for (const name of COUNTED_TYPES) slots.push(typeSlot(RRType[name]));
    for (const status of DNSSEC_STATUS_NAMES.keys()) slots.push(dnssecSlot(status));
    for (const reason of LIMIT_REASONS.keys()) slots.push(limitSlot(reason + 1));
    expect(new Set(slots).size).toBe(slots.length);
    expect(Math.max(...slots)).toBe(COUNTERS_BYTES / 8 - 1);
  });

  test('are shared by all RCODEs and types that have no separate slot', () => {
    expect([24, 25, 4095].map((rcode) => rcodeSlot(rcode, 1))).toEqual(
      Array(3).fill(rcodeSlot(OTHER_RCODE_SLOT, 0)),
    );
    expect([511, 512, 65_535].map(typeSlot)).toEqual(Array(3).fill(typeSlot(0)));
  });
});

describe('answeredWith(), the answers of one kind,', () => {
  test('adds up the counts of all protocols', () => {
    const counters = new Float64Array(COUNTERS_BYTES / 8);
    counters[answeredSlot(Protocol.udp, QueryStatus.CACHED)] = 3;
    counters[answeredSlot(Protocol.doh, QueryStatus.CACHED)] = 4;
    counters[answeredSlot(Protocol.udp, QueryStatus.STALE)] = 100;
    expect(answeredWith(counters, QueryStatus.CACHED)).toBe(7);
  });
});
