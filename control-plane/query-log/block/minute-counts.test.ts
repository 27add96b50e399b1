/** Compares counts of minutes with a count of all rows. */
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { addRow, HOUR_MS, inWords, type Words } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { countMinutes, latencyBucket, latencyOfBucket } from './minute-counts.ts';
import { OpenBlock } from './open-block.ts';
import { replyKindOf } from '../rows/reply-kind.ts';

const open = new OpenBlock();

describe('countMinutes()', () => {
  test('returns the same counts as an evaluation row by row, for generated rows', () => {
    fc.assert(
      fc.property(fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 80 }), (rows) => {
        open.clear();
        for (const row of rows) addRow(open, row);
        const words = rows.map(inWords);
        const minutes = [...new Set(words.map(minuteOf))].sort((a, b) => a - b);
        const counted = countMinutes(open).map(({ counts, ...totals }) => ({
          ...totals,
          counts: { ...counts },
        }));
        expect(counted).toEqual(
          minutes.map((minuteMs) =>
            naiveCounts(
              minuteMs,
              words.filter((row) => minuteOf(row) === minuteMs),
            ),
          ),
        );
      }),
    );
  });
});

describe('latencyBucket()', () => {
  test('returns one of four buckets per power of two, each with its own upper limit', () => {
    expect([0, 1, 2, 4, 1024, 2 ** 32 - 1].map(latencyBucket)).toEqual([0, 0, 4, 8, 40, 128]);
    for (const timeUs of [2, 3, 5, 100, 4095, 4096, 4097, 1e6, 4e9]) {
      expect(latencyOfBucket(latencyBucket(timeUs))).toBeGreaterThanOrEqual(timeUs * 0.999_999);
      expect(latencyOfBucket(latencyBucket(timeUs) - 1)).toBeLessThan(timeUs);
    }
  });
});

function minuteOf({ timestampUs }: Words): number {
  return Math.floor(timestampUs / 60_000_000) * 60_000;
}

function naiveCounts(minuteMs: number, rows: readonly Words[]): unknown {
  const counts: Record<string, number> = {};
  const add = (key: string, value = 1): void => {
    if (value > 0) counts[key] = (counts[key] ?? 0) + value;
  };
  for (const { outcome, group, source, lists, responseTimeUs } of rows) {
    const [type, status, rcode, protocol, dnssec, isCached, upstream, answerType, , origin] = outcome as [
      number,
      string,
      number,
      string,
      string,
      boolean,
      string | null,
      number | undefined,
      number | undefined,
      string | null | undefined,
    ];
    add(`reply:${replyKindOf(rcode, answerType)}`);
    if (typeof origin === 'string') add(`decision:${status}:${origin}`);
    const isBlocked = status.startsWith('BLOCKED_');
    for (const [kind, value] of Object.entries({ type, status, rcode, protocol, dnssec, group }))
      add(`${kind}:${value}`);
    add(`latency:${latencyBucket(responseTimeUs)}`);
    add('us:all', responseTimeUs);
    if (isBlocked) add(`group_blocked:${group}`);
    if (isBlocked && source !== null) add(`source:${source}`);
    if (status === 'BLOCKED_SERVICE' && source !== null) add(`service:${source}`);
    for (const list of isBlocked ? lists : []) add(`list:${list}`);
    if (isBlocked && lists.length === 1) add(`sole_list:${lists[0]}`);
    if (isCached) add('cache:hits');
    if (isCached && !isBlocked) add('us:cached', responseTimeUs);
    if (!isCached && ['ALLOWED', 'SERVFAIL', 'TIMEOUT'].includes(status)) add('cache:misses');
    if (upstream === null || isCached || isBlocked) continue;
    add('us:forwarded', responseTimeUs);
    add(`upstream:${upstream}`);
    add(`upstream_us:${upstream}`, responseTimeUs);
  }
  const passed = rows.filter(({ outcome }) => !(outcome[1] as string).startsWith('BLOCKED_'));
  const ofStatus = (test: (status: string) => boolean): number =>
    rows.filter(({ outcome }) => test(outcome[1] as string)).length;
  return {
    minuteMs,
    queries: rows.length,
    blocked: ofStatus((status) => status.startsWith('BLOCKED_')),
    cached: passed.filter(({ outcome }) => outcome[5] === true).length,
    forwarded: passed.filter(({ outcome }) => outcome[5] === false && outcome[6] !== null).length,
    rateLimited: ofStatus((status) => status === 'RATE_LIMITED'),
    counts,
  };
}
