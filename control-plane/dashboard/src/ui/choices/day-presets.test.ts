import { describe, expect, test } from '@jest/globals';
import { daysText } from './day-presets.ts';

describe('daysText(), the text for weekdays,', () => {
  const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
  const text = (bits: number): string =>
    daysText(
      bits,
      (key) => key,
      (day) => names[day]!,
    );

  test('contains the name of a preset, or otherwise each day', () => {
    expect([text(127), text(0b1100000), text(0b1001111)]).toEqual([
      'schedules.days.every',
      'schedules.days.weekend',
      'schedules.days.school',
    ]);
    expect(text(0b1000010)).toBe('Tue, Sun');
  });
});
