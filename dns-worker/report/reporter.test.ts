import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  AnswerSource,
  answeredSlot,
  COUNTERS_BYTES,
  dnssecSlot,
  latencySlot,
  LimitReason,
  limitSlot,
  rcodeSlot,
  timeSlot,
  typeSlot,
} from '../../shared/memory/answer-counters.ts';
import { Counter, excludedSlot } from '../../shared/memory/counters.ts';
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import {
  DnssecStatus,
  Exclusion,
  LogRing,
  logRingBytes,
  Protocol,
  QueryStatus,
} from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';
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
function answer(change: Partial<Query> = {}): void {
  reporter.answered(Object.assign(answeredQuery(), change), 1);
}

describe('Reporter.answered(), which counts a query,', () => {
  test('counts queries by protocol and status', () => {
    answer({ protocol: Protocol.tcp, status: QueryStatus.CACHED });
    answer({ protocol: Protocol.tcp, status: QueryStatus.CACHED });
    answer({ protocol: Protocol.udp, status: QueryStatus.ALLOWED });
    expect(counters[Counter.QUERIES]).toBe(3);
    expect(counters[answeredSlot(Protocol.tcp, QueryStatus.CACHED)]).toBe(2);
    expect(counters[answeredSlot(Protocol.udp, QueryStatus.ALLOWED)]).toBe(1);
  });

  test('counts rate-limited queries as limited, for any status', () => {
    answer({ protocol: Protocol.udp, status: QueryStatus.ALLOWED, limitedBy: LimitReason.NXDOMAIN });
    expect(counters[answeredSlot(Protocol.udp, QueryStatus.RATE_LIMITED)]).toBe(1);
    expect([1, 2].map((reason) => counters[limitSlot(reason)])).toEqual([0, 1]);
    expect(counters[answeredSlot(Protocol.udp, QueryStatus.ALLOWED)]).toBe(0);
  });

  test('counts queries by RCODE, type and DNSSEC status', () => {
    answer({ rcode: Rcode.NOERROR, answersCount: 1, qtype: RRType.A, dnssec: DnssecStatus.secure });
    answer({ rcode: Rcode.NOERROR, answersCount: 0, qtype: RRType.A });
    answer({ rcode: Rcode.NXDOMAIN, qtype: 65_280, dnssec: DnssecStatus.bogus });
    answer({ rcode: Rcode.FORMERR, qnameLength: 0 });
    const codes = [Rcode.NXDOMAIN, Rcode.FORMERR].map((rcode) => counters[rcodeSlot(rcode, 0)]);
    expect([counters[rcodeSlot(0, 1)], counters[rcodeSlot(0, 0)], ...codes]).toEqual([1, 1, 1, 1]);
    expect([RRType.A, 65_281].map((type) => counters[typeSlot(type)])).toEqual([2, 1]);
    expect([0, 1, 3].map((status) => counters[dnssecSlot(status)])).toEqual([2, 1, 1]);
  });
});

describe('Reporter.answered() of an excluded query', () => {
  test('counts the query, but writes no log record for a query excluded from log and statistics', () => {
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

describe('Reporter.publish(), which publishes counters,', () => {
  test('counts the response time of each query since the last call, by answer source', () => {
    answer();
    answer();
    answer({ cached: 1, upstream: 4 });
    answer({ upstream: 4 });
    answer({ status: QueryStatus.TIMEOUT });
    reporter.publish(100);
    answer();
    reporter.publish(3000);
    const { CACHE, LOCAL, UPSTREAM } = AnswerSource;
    const times = [CACHE, UPSTREAM, LOCAL].map((source) => [
      counters[latencySlot(source, 100)],
      counters[latencySlot(source, 3000)],
      counters[timeSlot(source)],
    ]);
    expect(times).toEqual([
      [1, 0, 100],
      [2, 0, 200],
      [2, 1, 3200],
    ]);
  });

  test('does not count a response time if there was no query', () => {
    reporter.publish(100);
    expect([...counters].every((count) => count === 0)).toBe(true);
  });
});
