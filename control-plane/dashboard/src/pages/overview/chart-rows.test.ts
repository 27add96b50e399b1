import { describe, expect, test } from '@jest/globals';
import { activityParts, mostCommon } from './chart-rows.ts';

describe('mostCommon(), the counts shown in a chart,', () => {
  test('returns the largest counts in order, and the sum of all other counts', () => {
    expect(mostCommon({ AAAA: 5, A: 9, TXT: 1, MX: 2 }, 2)).toEqual({
      shown: [
        ['A', 9],
        ['AAAA', 5],
      ],
      others: 3,
    });
    expect(mostCommon({ A: 1 }, 2)).toEqual({ shown: [['A', 1]], others: 0 });
  });
});

describe('activityParts(), the parts of the client activity chart,', () => {
  const timeline = (others: readonly [number, number]) => ({
    ...{ granularity: 'hour' as const, timezone: 'UTC', log_cleared: [] },
    clients: [
      { ip_address: '192.0.2.1', hostname: 'Phone', client_id: null, total: 5 },
      { ip_address: '192.0.2.2', hostname: null, client_id: 3, total: 2 },
    ],
    buckets: [
      { timestamp: '2026-01-15T11:00:00.000Z', counts: [4, 0], others: others[0] },
      { timestamp: '2026-01-15T12:00:00.000Z', counts: [1, 2], others: others[1] },
    ],
  });

  test('contain the counts of each client by interval, and the counts of all other clients', () => {
    expect(activityParts(timeline([0, 7])).map(({ key, counts, colour }) => [key, counts, colour])).toEqual([
      ['192.0.2.1 null', [4, 1], 'series-1'],
      ['192.0.2.2 3', [0, 2], 'series-2'],
      ['others', [0, 7], 'series-others'],
    ]);
  });

  test('contain no part for other clients if those clients sent no queries', () => {
    expect(activityParts(timeline([0, 0]))).toHaveLength(2);
  });
});
