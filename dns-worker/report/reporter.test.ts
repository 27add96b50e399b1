import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  answeredSlot,
  Counter,
  COUNTERS_BYTES,
  excludedSlot,
  latencySlot,
} from '../../shared/memory/counters.ts';
import { Exclusion, LogRing, logRingBytes, Protocol, QueryStatus } from '../../shared/query-log.ts';
import { answeredQuery } from '../../test/support/parts/answered-query.ts';
import { Reporter } from './reporter.ts';

let counters: Float64Array;
let reporter: Reporter;
beforeEach(() => {
  const memory = new SharedArrayBuffer(COUNTERS_BYTES);
  counters = new Float64Array(memory);
  reporter = new Reporter(memory, new SharedArrayBuffer(logRingBytes(16)));
});

/** Reports one query. */
function answer(change: { protocol?: 0 | 1; status?: 0 | 1 | 12; isRateLimited?: boolean } = {}): void {
  reporter.answered(Object.assign(answeredQuery(), change), 1);
}

describe('Reporter.answered()', () => {
  test('counts by protocol and status', () => {
    answer({ protocol: Protocol.tcp, status: QueryStatus.CACHED });
    answer({ protocol: Protocol.tcp, status: QueryStatus.CACHED });
    answer({ protocol: Protocol.udp, status: QueryStatus.ALLOWED });
    expect(counters[Counter.QUERIES]).toBe(3);
    expect(counters[answeredSlot(Protocol.tcp, QueryStatus.CACHED)]).toBe(2);
    expect(counters[answeredSlot(Protocol.udp, QueryStatus.ALLOWED)]).toBe(1);
  });

  test('counts what the rate limit met as that', () => {
    answer({ protocol: Protocol.udp, status: QueryStatus.ALLOWED, isRateLimited: true });
    expect(counters[answeredSlot(Protocol.udp, QueryStatus.RATE_LIMITED)]).toBe(1);
    expect(counters[answeredSlot(Protocol.udp, QueryStatus.ALLOWED)]).toBe(0);
  });
});

describe('Reporter.answered() of a query that is left out', () => {
  test('counts it, and writes a record unless the log and statistics leave it out', () => {
    const ring = new SharedArrayBuffer(logRingBytes(16));
    const memory = new SharedArrayBuffer(COUNTERS_BYTES);
    const counts = new Float64Array(memory);
    const reports = new Reporter(memory, ring);
    for (const exclusion of [Exclusion.NONE, Exclusion.LOG, Exclusion.STATS, Exclusion.BOTH, Exclusion.BOTH])
      reports.answered(Object.assign(answeredQuery(), { exclusion }), 1);
    reports.publish(10);
    expect(counts[Counter.QUERIES]).toBe(5);
    expect([1, 2, 3].map((exclusion) => counts[excludedSlot(exclusion)])).toEqual([1, 1, 2]);
    expect(new Int32Array(ring)[LogRing.HEAD_WORD]).toBe(3);
  });
});

describe('Reporter.publish()', () => {
  test('counts the response time for each query since the last call', () => {
    answer();
    answer();
    reporter.publish(100);
    answer();
    reporter.publish(3000);
    expect([counters[latencySlot(100)], counters[latencySlot(3000)]]).toEqual([2, 1]);
    expect(counters[Counter.RESPONSE_TIME_US]).toBe(3200);
  });

  test('counts nothing where nothing was answered', () => {
    reporter.publish(100);
    expect([...counters].every((count) => count === 0)).toBe(true);
  });
});
