import { describe, expect, test } from '@jest/globals';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { FlagsHigh, FlagsLow } from '../../shared/dns/wire.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import type { RateLimitSettings } from '../../shared/policy/rate-limit-settings.ts';
import { Protocol, QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { type Query, StageResult } from '../query/query.ts';
import { replyWithRcode } from '../respond/reply.ts';
import { limitNxdomain, rateLimitStage } from './rate-limit.ts';

const SNAPSHOT = openLists([]);

function limiterOf(change: Partial<RateLimitSettings> = {}): RateLimiter {
  return new RateLimiter(
    createRateBuckets(true, 7),
    rateLimitOf({ burstSize: 1, nxdomainPerSecond: 1, ...change }),
  );
}

function asked(facts: Partial<Query> = {}): Query {
  return Object.assign(slotQuery(SNAPSHOT, 'www.example.org'), { arrivedMonotonicMs: 1000 }, facts);
}

describe('rateLimitStage, the rate limit of queries,', () => {
  test('refuses queries over the limit of the network, and marks them for the log', () => {
    const limiter = limiterOf();
    const first = asked();
    expect([rateLimitStage(first, limiter), first.limitedBy]).toEqual([
      StageResult.CONTINUE,
      LimitReason.NONE,
    ]);
    const second = asked({ replyFlags: FlagsHigh.AA | FlagsLow.AD });
    expect([rateLimitStage(second, limiter), second.limitedBy]).toEqual([
      StageResult.ANSWERED,
      LimitReason.QUESTIONS,
    ]);
    expect(replyIn(second)).toMatchObject({ rcode: Rcode.REFUSED, truncated: false });
    expect(replyIn(second).message.flag_aa).toBe(false);
  });

  test('marks queries over the limit in a dry run, but answers them', () => {
    const limiter = limiterOf({ dryRun: true });
    rateLimitStage(asked(), limiter);
    const second = asked();
    expect([rateLimitStage(second, limiter), second.limitedBy]).toEqual([
      StageResult.CONTINUE,
      LimitReason.QUESTIONS,
    ]);
    expect(second.replyLength).toBe(0);
  });

  test('limits no client if it is disabled', () => {
    const limiter = limiterOf({ enabled: false });
    for (let round = 0; round < 9; round++)
      expect(rateLimitStage(asked(), limiter)).toBe(StageResult.CONTINUE);
  });

  test('sends TC for every second limited UDP query, unless the address is proven', () => {
    const limiter = limiterOf({ slipRatio: 2 });
    const limited = (facts: Partial<Query>): boolean => {
      const slot = asked(facts);
      if (rateLimitStage(slot, limiter) === StageResult.CONTINUE) return false;
      const { truncated, rcode } = replyIn(slot);
      expect(rcode).toBe(truncated ? Rcode.NOERROR : Rcode.REFUSED);
      return truncated;
    };
    expect([1, 2, 3, 4, 5].map(() => limited({}))).toEqual([false, false, true, false, true]);
    expect([1, 2, 3, 4, 5].map(() => limited({ protocol: Protocol.tcp }))).toEqual(Array(5).fill(false));
    expect([1, 2, 3, 4, 5].map(() => limited({ hasValidCookie: true }))).toEqual(Array(5).fill(false));
  });
});

describe('limitNxdomain', () => {
  function answered(limiter: RateLimiter, status: QueryStatusCode, rcode: number = Rcode.NXDOMAIN): Query {
    const slot = asked();
    replyWithRcode(slot, rcode);
    slot.status = status;
    limitNxdomain(slot, limiter);
    return slot;
  }

  test.each([QueryStatus.ALLOWED, QueryStatus.CACHED, QueryStatus.BLOCKED_LIST, QueryStatus.LOCAL])(
    'refuses a second NXDOMAIN of status %i over the limit',
    (status) => {
      const limiter = limiterOf();
      expect(answered(limiter, status)).toMatchObject({ limitedBy: LimitReason.NONE, rcode: Rcode.NXDOMAIN });
      expect(answered(limiter, status)).toMatchObject({
        limitedBy: LimitReason.NXDOMAIN,
        rcode: Rcode.REFUSED,
      });
    },
  );

  test.each([
    ['other answers', QueryStatus.ALLOWED, Rcode.NOERROR, {}],
    ['anything where it is switched off', QueryStatus.ALLOWED, Rcode.NXDOMAIN, { enabled: false }],
  ])('does not limit %s', (_what, status, rcode, change) => {
    const limiter = limiterOf(change);
    for (let round = 0; round < 5; round++)
      expect(answered(limiter, status, rcode)).toMatchObject({ limitedBy: LimitReason.NONE, rcode });
  });
});
