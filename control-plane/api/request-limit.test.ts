import { beforeEach, describe, expect, test } from '@jest/globals';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { ApiError } from './api-error.ts';
import { RequestLimit } from './request-limit.ts';

let clock: TestClock;
let limit: RequestLimit;

beforeEach(() => {
  clock = new TestClock();
  limit = new RequestLimit(clock, { perSecond: 10, burst: 50 });
});

/** Number of allowed requests out of `count`, and the error of the last rejected one. */
function spend(address: string, count: number): { passed: number; refusal: ApiError | undefined } {
  let passed = 0;
  let refusal: ApiError | undefined;
  for (let n = 0; n < count; n++)
    try {
      limit.spend(address);
      passed++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
    }
  return { passed, refusal };
}

const passedOf = (address: string, count: number): number => spend(address, count).passed;

describe('RequestLimit', () => {
  test('accepts a burst of requests, and then requests at the limited rate', () => {
    expect(passedOf('192.0.2.1', 80)).toBe(50);
    clock.advance(99);
    expect(passedOf('192.0.2.1', 1)).toBe(0);
    clock.advance(1);
    expect(passedOf('192.0.2.1', 5)).toBe(1);
    clock.advance(3000);
    expect(passedOf('192.0.2.1', 80)).toBe(30);
    clock.advance(3_600_000);
    expect(passedOf('192.0.2.1', 80)).toBe(50);
  });

  test('refuses a request with 429, Retry-After in whole seconds and its own error code', () => {
    const { refusal } = spend('192.0.2.1', 51);
    expect([refusal!.status, refusal!.code, refusal!.headers]).toEqual([
      429,
      'rate_limited',
      { 'Retry-After': '1' },
    ]);
    const slow = new RequestLimit(clock, { perSecond: 0.1, burst: 1 });
    slow.spend('192.0.2.1');
    expect(() => slow.spend('192.0.2.1')).toThrow(
      expect.objectContaining({ headers: { 'Retry-After': '10' } }),
    );
  });

  test('does not count refused requests, so a client that keeps trying gets through at the limited rate', () => {
    passedOf('192.0.2.1', 1000);
    clock.advance(1000);
    expect(passedOf('192.0.2.1', 1000)).toBe(10);
  });

  test('counts IPv4 clients by address and IPv6 clients by /64, in every notation of an address', () => {
    expect(passedOf('192.0.2.1', 50)).toBe(50);
    expect(passedOf('::ffff:192.0.2.1', 1)).toBe(0);
    expect(passedOf('192.0.2.2', 50)).toBe(50);
    for (let host = 1; host <= 50; host++) expect(passedOf(`2001:db8::${host.toString(16)}`, 1)).toBe(1);
    expect(passedOf('2001:db8:0:0:ffff::1', 1)).toBe(0);
    expect(passedOf('2001:db8:0:1::1', 1)).toBe(1);
  });

  test('measures time with the monotonic clock only', () => {
    passedOf('192.0.2.1', 50);
    clock.wallMs += 3_600_000;
    expect(passedOf('192.0.2.1', 1)).toBe(0);
    clock.wallMs -= 7_200_000;
    clock.sinceBootMs += 100;
    expect(passedOf('192.0.2.1', 2)).toBe(1);
  });

  test('keeps the counts of 10,000 networks, and evicts networks that stopped sending requests first', () => {
    passedOf('192.0.2.1', 50);
    passedOf('192.0.2.2', 50);
    for (let n = 0; n < 9_999; n++) passedOf(`10.0.${n >> 8}.${n & 255}`, 1);
    // Rejected requests also keep a network in memory, so that a client cannot get another burst by sending more
    // requests.
    expect(passedOf('192.0.2.2', 1)).toBe(0);
    expect(passedOf('192.0.2.1', 1)).toBe(1);
    for (let n = 0; n < 5_000; n++) passedOf(`10.1.${n >> 8}.${n & 255}`, 1);
    expect(passedOf('192.0.2.2', 1)).toBe(0);
  });

  test('treats an invalid address as a separate client', () => {
    expect(passedOf('', 60)).toBe(50);
    expect(passedOf('unknown', 60)).toBe(50);
  });
});
