import { expect, test } from '@jest/globals';
import { grantEnd, SPANS } from './grant-spans.ts';

test.each([
  [new Date(2026, 0, 15, 20, 30), [1800, 3600, 34_200]],
  // The server accepts at most 36 hours.
  [new Date(2026, 0, 15, 0, 0), [1800, 3600, 108_000]],
])('a grant created at %s may end after half an hour, an hour, or at six the next day', (now, secs) => {
  expect(SPANS.map((span) => (grantEnd(span, now).until.getTime() - now.getTime()) / 1000)).toEqual(secs);
});

test('a request for a grant contains seconds, or the time of the next morning', () => {
  const now = new Date(2026, 0, 15, 20, 30);
  expect(SPANS.map((span) => grantEnd(span, now).body)).toEqual([
    { secs: 1800 },
    { secs: 3600 },
    { until: new Date(2026, 0, 16, 6).toISOString() },
  ]);
});
