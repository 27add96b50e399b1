import { describe, expect, test } from '@jest/globals';
import { addressFromText } from '../../shared/net/ip.ts';
import { RateBucketLayout, createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { type RateLimitSettings } from '../../shared/policy/rate-limit-settings.ts';
import { Protocol } from '../../shared/query-log.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { Query } from '../query/query.ts';
import { ClientNetworks } from './client-networks.ts';
import { RateLimiter } from './rate-limiter.ts';

function limiterOf(
  change: Partial<RateLimitSettings> = {},
  memory = createRateBuckets(true, 7),
): RateLimiter {
  return new RateLimiter(memory, rateLimitOf(change));
}

const query = new Query();
type Proof = Partial<Pick<Query, 'protocol' | 'hasValidCookie'>>;
function from(client: string, atMs: number, proof: Proof = {}): Query {
  query.protocol = proof.protocol ?? Protocol.udp;
  query.hasValidCookie = proof.hasValidCookie ?? false;
  query.clientBytes = addressFromText(client)!;
  query.clientAt = 0;
  query.arrivedMonotonicMs = atMs;
  return query;
}

/** Sends `count` queries at the same time; returns the number of admitted queries. */
function admitted(limiter: RateLimiter, client: string, atMs: number, count: number, proof?: Proof): number {
  let sum = 0;
  for (let i = 0; i < count; i++) if (limiter.admitsQuestion(from(client, atMs, proof))) sum++;
  return sum;
}

describe('RateLimiter (token buckets)', () => {
  test('admitsQuestion() allows a burst, and then the queries that the refill rate allows', () => {
    const limiter = limiterOf();
    expect(admitted(limiter, '192.0.2.1', 1000, 9)).toBe(5);
    expect(admitted(limiter, '192.0.2.1', 1090, 9)).toBe(0);
    expect(admitted(limiter, '192.0.2.1', 1100, 9)).toBe(1);
    expect(admitted(limiter, '192.0.2.1', 60_000, 9)).toBe(5);
  });

  test('admitsQuestion() counts all addresses of a network together, and networks separately', () => {
    const limiter = limiterOf();
    expect(admitted(limiter, '192.0.2.1', 1000, 3)).toBe(3);
    expect(admitted(limiter, '192.0.2.200', 1000, 9)).toBe(2);
    expect(admitted(limiter, '192.0.3.1', 1000, 9)).toBe(5);
    expect(admitted(limiter, '2001:db8:1:1::1', 1000, 3)).toBe(3);
    expect(admitted(limiter, '2001:db8:1:2::1', 1000, 9)).toBe(2);
    expect(admitted(limiter, '2001:db8:2:1::1', 1000, 9)).toBe(5);
  });

  test('admitsQuestion() keeps separate buckets for networks that differ in one group of their address', () => {
    const limiter = limiterOf({ ipv6PrefixLength: 128 });
    const clients = [0, 1, 2, 3].flatMap((word) =>
      Array.from({ length: 16 }, (_, at) => {
        const groups = Array.from({ length: 8 }, (_g, group) => (group === word * 2 ? 0x2000 + at : 1));
        return groups.map((group) => group.toString(16)).join(':');
      }),
    );
    for (const client of clients) expect(admitted(limiter, client, 1000, 5)).toBe(5);
    for (const client of clients) expect(admitted(limiter, client, 1000, 1)).toBe(0);
  });

  test('admitsQuestion() never limits addresses in the whitelist', () => {
    const limiter = limiterOf({ whitelist: ['192.0.2.128/25', '2001:db8::/32'] });
    expect(admitted(limiter, '192.0.2.129', 1000, 50)).toBe(50);
    expect(admitted(limiter, '2001:db8:9::1', 1000, 50)).toBe(50);
    expect(admitted(limiter, '192.0.2.1', 1000, 50)).toBe(5);
  });

  test('admitsQuestion() applies one limit across all threads', () => {
    const memory = createRateBuckets(true, 7);
    const [one, other] = [limiterOf({}, memory), limiterOf({}, memory)];
    expect(admitted(one, '192.0.2.1', 1000, 3) + admitted(other, '192.0.2.1', 1000, 9)).toBe(5);
  });

  test('admitsNxdomain() has a separate limit', () => {
    const limiter = limiterOf();
    const granted = [1, 2, 3].map(() => limiter.admitsNxdomain(from('192.0.2.1', 1000)));
    expect(granted).toEqual([true, true, false]);
    expect(admitted(limiter, '192.0.2.1', 1000, 9)).toBe(5);
  });

  test('admitsQuestion() and admitsNxdomain() have separate buckets of the same size for proven addresses', () => {
    const limiter = limiterOf();
    for (const client of ['192.0.2.1', '2001:db8:1::1']) {
      expect(admitted(limiter, client, 1000, 9)).toBe(5);
      expect(admitted(limiter, client, 1000, 3, { hasValidCookie: true })).toBe(3);
      // All kinds of proof share one bucket.
      expect(admitted(limiter, client, 1000, 9, { protocol: Protocol.tcp })).toBe(2);
      expect(admitted(limiter, client, 1000, 9)).toBe(0);
      const nxdomain = (proof?: Proof): boolean[] =>
        [1, 2, 3].map(() => limiter.admitsNxdomain(from(client, 1000, proof)));
      expect(nxdomain()).toEqual([true, true, false]);
      expect(nxdomain({ protocol: Protocol.tcp })).toEqual([true, true, false]);
    }
  });

  test('admitsQuestion() still admits a burst per network when there are more networks than buckets', () => {
    const limiter = limiterOf();
    let refused = 0;
    for (let i = 0; i < RateBucketLayout.BUCKETS * 2; i++) {
      const client = `10.${String(i >>> 8)}.${String(i & 0xff)}.1`;
      if (!limiter.admitsQuestion(from(client, 1000 + i / 1000))) refused++;
    }
    expect(refused).toBe(0);
    expect(admitted(limiter, '203.0.113.1', 5000, 9)).toBe(5);
  });

  /** The first of the buckets that a client's network may use. */
  function firstBucketOf(memory: SharedArrayBuffer, client: string): number {
    const hash = new ClientNetworks(memory, rateLimitOf({})).hash(from(client, 0));
    return hash & (RateBucketLayout.BUCKETS - 1) & ~(RateBucketLayout.WAYS - 1);
  }

  test('admitsQuestion() gives a network the least used of four possible buckets, and changes no other bucket', () => {
    const memory = createRateBuckets(true, 7);
    const limiter = limiterOf({}, memory);
    const first = firstBucketOf(memory, '10.0.0.1');
    const neighbours: string[] = [];
    for (let i = 0; neighbours.length < RateBucketLayout.WAYS + 1; i++) {
      const client = `10.${String(i >>> 8)}.${String(i & 0xff)}.1`;
      if (firstBucketOf(memory, client) === first) neighbours.push(client);
    }
    const newcomer = neighbours.pop()!;
    neighbours.forEach((client, at) => admitted(limiter, client, 1000, at === 2 ? 3 : 5));
    const rest = (client: string): number => admitted(limiter, client, 1000, 9);
    expect(rest(newcomer)).toBe(5);
    const [one, two, forgotten, four] = neighbours;
    expect([one!, two!, four!].map(rest)).toEqual([0, 0, 0]);
    expect(rest(forgotten!)).toBe(5);
  });

  test('slips() is true for every Nth limited query, with N = rate_limit.slip_ratio', () => {
    const limiter = limiterOf({ slipRatio: 3 });
    expect(Array.from({ length: 7 }, () => limiter.slips())).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(limiterOf().slips()).toBe(false);
  });

  test('slips() counts the limited queries of all threads together', () => {
    const memory = createRateBuckets(true, 7);
    const [one, other] = [limiterOf({ slipRatio: 2 }, memory), limiterOf({ slipRatio: 2 }, memory)];
    expect([one.slips(), other.slips(), other.slips(), one.slips()]).toEqual([false, true, false, true]);
  });

  test('admitsQuestion() gives the same results as a simple token bucket', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 1000 }),
        (gapsMs, burstSize, queriesPerSecond) => {
          const limiter = limiterOf({ burstSize, queriesPerSecond });
          let tokens = burstSize;
          let nowMs = 1000;
          for (const gapMs of gapsMs) {
            nowMs += gapMs;
            tokens = Math.min(burstSize, tokens + (gapMs * queriesPerSecond) / 1000);
            // If a token is nearly complete, rounding decides whether the query is admitted.
            const isNear = Math.abs(tokens - 1) < 0.02;
            const isAdmitted = limiter.admitsQuestion(from('192.0.2.1', nowMs));
            if (isNear) return;
            expect(isAdmitted).toBe(tokens >= 1);
            if (isAdmitted) tokens--;
          }
        },
      ),
    );
  });
});
