import { describe, expect, test } from '@jest/globals';
import { READY_IDS, READY_TIMES, readyIdOf } from './ready-times.ts';

describe('readyIdOf(), the predefined time that a slot equals,', () => {
  test('recognizes each predefined time, even with other hours', () => {
    for (const id of READY_IDS) {
      expect(readyIdOf(READY_TIMES[id])).toBe(id);
      expect(readyIdOf({ ...READY_TIMES[id], start_time: '12:00' })).toBe(id);
    }
  });

  test('recognizes no predefined time for other days or for nights that include holidays', () => {
    expect(readyIdOf({ ...READY_TIMES.school, days: 1 })).toBeNull();
    expect(readyIdOf({ ...READY_TIMES.school, skips_days_off: false })).toBeNull();
  });
});
