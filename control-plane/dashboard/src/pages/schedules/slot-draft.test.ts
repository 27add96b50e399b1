import { describe, expect, test } from '@jest/globals';
import type { WeekSlot } from '../../ui/policy/week.ts';
import { draftFault, draftOf, hourAt, slotOf } from './slot-draft.ts';

const slot = (start: string, end: string, days = 1): WeekSlot => ({
  days,
  start_time: start,
  end_time: end,
  action: 'block_all',
  skips_days_off: true,
});

describe('draftOf() and slotOf(), which convert slots to forms and back,', () => {
  test.each([
    ['21:00', '06:30'],
    ['00:00', '24:00'],
    ['08:00', '08:01'],
    ['22:00', '00:00'],
  ])('keep %s to %s unchanged', (start, end) => {
    expect(slotOf(draftOf(slot(start, end, 77)))).toEqual(slot(start, end, 77));
  });

  test('write the end of a day as 00:00, because a time field has no 24:00', () => {
    expect(slotOf(draftOf(slot('22:00', '24:00')))).toEqual(slot('22:00', '00:00'));
  });

  test('start a new slot at the clicked hour, and end a slot in the last hour at midnight', () => {
    expect(draftOf(null, { day: 2, minute: 480 })).toMatchObject({ days: [2], start: '08:00', end: '09:00' });
    expect(draftOf(null, { day: 6, minute: 1_380 })).toMatchObject({ start: '23:00', end: '00:00' });
  });

  test('remove the seconds that some browsers add', () => {
    expect(slotOf({ ...draftOf(null), start: '21:00:00' }).start_time).toBe('21:00');
  });
});

describe('draftFault(), the error in the form of a slot,', () => {
  test('is null only with at least one day and two different times', () => {
    const draft = draftOf(null);
    expect(draftFault(draft)).toBeNull();
    expect(draftFault({ ...draft, days: [] })).toBe('schedules.fault.days');
    expect(draftFault({ ...draft, end: '' })).toBe('schedules.fault.times');
    expect(draftFault({ ...draft, end: draft.start })).toBe('schedules.fault.same');
    expect(draftFault({ ...draft, end: draft.start, isWholeDay: true })).toBeNull();
  });
});

describe('hourAt(), the hour clicked on a timeline,', () => {
  test('returns the full hour at a position on the timeline, within the day', () => {
    expect([hourAt(0), hourAt(0.51), hourAt(1), hourAt(-1)]).toEqual([0, 720, 1_380, 0]);
  });
});
