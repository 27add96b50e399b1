import { describe, expect, test } from '@jest/globals';
import { READY_IDS, READY_TIMES, readyIdOf } from './ready-times.ts';

describe('readyIdOf()', () => {
  test('recognises each predefined time, even with other hours', () => {
    for (const id of READY_IDS) {
      expect(readyIdOf(READY_TIMES[id])).toBe(id);
      expect(readyIdOf({ ...READY_TIMES[id], start_time: '12:00' })).toBe(id);
    }
  });

  test('recognises no predefined time for other days or for nights that include holidays', () => {
    expect(readyIdOf({ ...READY_TIMES.school, days: 1 })).toBeNull();
    expect(readyIdOf({ ...READY_TIMES.school, skips_days_off: false })).toBeNull();
  });
});
