import { describe, expect, test } from '@jest/globals';
import {
  GroupPlanBody,
  ScheduleProfileCreateBody,
  ScheduleSlotCreateBody,
  SlotParams,
} from './schedules-api.ts';

const slot = { days: 127, start_time: '22:00', end_time: '06:00', action: 'block_all' };

describe('ScheduleSlotCreateBody', () => {
  test('reads times as minutes since midnight, even if a slot spans midnight', () => {
    expect(ScheduleSlotCreateBody.parse(slot)).toMatchObject({ start_time: 1320, end_time: 360 });
  });

  test('accepts 24:00 as an end but not as a start', () => {
    const whole = { ...slot, start_time: '00:00', end_time: '24:00' };
    expect(ScheduleSlotCreateBody.parse(whole)).toMatchObject({ start_time: 0, end_time: 1440 });
    const late = ScheduleSlotCreateBody.safeParse({ ...slot, start_time: '24:00' });
    expect(late.error?.issues[0]).toMatchObject({ path: ['start_time'] });
    expect(ScheduleSlotCreateBody.parse({ ...slot, start_time: '23:59' }).start_time).toBe(1439);
  });

  test('rejects a slot that ends at its start time', () => {
    const empty = ScheduleSlotCreateBody.safeParse({ ...slot, end_time: '22:00' });
    expect(empty.error?.issues).toMatchObject([
      { path: ['end_time'], message: expect.stringContaining('a time other than start_time') },
    ]);
  });

  test.each([0, 128, 1.5, '1'])('rejects %j as days', (days) => {
    expect(ScheduleSlotCreateBody.safeParse({ ...slot, days }).success).toBe(false);
  });
});

describe('ScheduleProfileCreateBody', () => {
  test('rejects a profile without the name of a time zone', () => {
    const read = (timezone: string) =>
      ScheduleProfileCreateBody.safeParse({ name: 'Night', timezone }).success;
    expect(read('Europe/Berlin')).toBe(true);
    expect([read('Europe/Nowhere'), read(''), read('../etc/passwd')]).toEqual([false, false, false]);
  });
});

describe('SlotParams', () => {
  test('reads both IDs of a path as numbers', () => {
    expect(SlotParams.parse({ id: '3', slot_id: '15' })).toEqual({ id: 3, slot_id: 15 });
    expect(SlotParams.safeParse({ id: '3', slot_id: '1234567890123456' }).success).toBe(false);
    expect(SlotParams.safeParse({ id: '3', slot_id: '1x' }).success).toBe(false);
  });
});

const plan = { name: 'Mia', timezone: 'Europe/Berlin' };
const night = { days: 79, start_time: '20:00', end_time: '07:00' };

describe('GroupPlanBody', () => {
  test('reads times as minutes, and absent lists as empty', () => {
    expect(GroupPlanBody.parse({ ...plan, service_times: [night] })).toEqual({
      ...plan,
      ...{ client_ids: [], services: [], offline_times: [], days_off: [] },
      service_times: [{ days: 79, start_time: 1200, end_time: 420, skips_days_off: false }],
    });
  });

  test.each([
    [{ client_ids: [7, 7] }, ['client_ids']],
    [{ services: [1, 2].map(() => ({ service_id: 'youtube', always: true })) }, ['services']],
    [{ offline_times: [{ ...night, end_time: '20:00' }] }, ['offline_times', 0, 'end_time']],
    [{ days_off: [{ from: '2026-07-02', to: '2026-07-01' }] }, ['days_off', 0, 'to']],
    [{ timezone: 'Mars/Olympus' }, ['timezone']],
  ])('rejects %j', (change, path) => {
    expect(GroupPlanBody.safeParse({ ...plan, ...change }).error?.issues).toMatchObject([{ path }]);
  });
});
