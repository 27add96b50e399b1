import { describe, expect, test } from '@jest/globals';
import { dayRange, minuteOfDay, timeOfDay } from './time-of-day.ts';

describe('minuteOfDay() of a time such as 23:59', () => {
  test('is the inverse of timeOfDay() for each minute and for 24:00', () => {
    for (let minute = 0; minute <= 1440; minute++) expect(minuteOfDay(timeOfDay(minute))).toBe(minute);
    expect([timeOfDay(0), timeOfDay(61), timeOfDay(1439), timeOfDay(1440)]).toEqual([
      '00:00',
      '01:01',
      '23:59',
      '24:00',
    ]);
  });

  test.each(['24:01', '25:00', '12:60', '1:00', '01:0', '01:000', ' 01:00', '-1:00', ''])(
    'rejects %j as a time of day',
    (text) => expect(minuteOfDay(text)).toBeNull(),
  );
});

describe('dayRange(), a range of dates,', () => {
  test('counts days since 1970, including leap days', () => {
    expect(dayRange({ from: '1970-01-01', to: '1970-01-02' })).toEqual({ from: 0, to: 1 });
    const { from, to } = dayRange({ from: '2028-02-28', to: '2028-03-01' });
    expect(to - from).toBe(2);
  });
});
