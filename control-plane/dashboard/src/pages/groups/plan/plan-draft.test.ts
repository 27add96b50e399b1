import { describe, expect, test } from '@jest/globals';
import { READY_TIMES } from '../../../ui/choices/ready-times.ts';
import {
  allDaysOff,
  bodyOf,
  draftOf,
  isReady,
  nameAfter,
  newDraft,
  withReady,
  withService,
} from './plan-draft.ts';

const NEW = { ...newDraft('Europe/Berlin', []), name: 'Mia' };

describe('newDraft() of a plan for a group', () => {
  test('begins with school nights, and is complete once the draft has a name', () => {
    expect(bodyOf({ ...NEW, name: ' Mia ' })).toEqual({
      ...{ name: 'Mia', timezone: 'Europe/Berlin', client_ids: [], services: [] },
      ...{ service_times: [READY_TIMES.school], offline_times: [], days_off: [] },
    });
    expect([isReady(NEW), isReady({ ...NEW, name: ' ' })]).toEqual([true, false]);
  });
});

describe('isReady(), whether the form of a child is complete,', () => {
  test.each([
    [{ service_times: [{ ...READY_TIMES.school, days: 0 }] }],
    [{ offline_times: [{ ...READY_TIMES.bedtime, end_time: '' }] }],
    [{ offline_times: [{ ...READY_TIMES.bedtime, end_time: '21:00' }] }],
    [{ days_off: [{ from: '2026-07-02', to: '2026-07-01' }] }],
  ])('is false for %j', (change) => expect(isReady({ ...NEW, ...change })).toBe(false));
});

describe('draftOf(), the form for the current times of a group,', () => {
  test("uses the browser's time zone if the group has no times", () => {
    const { isNamed: _isNamed, ...plan } = { ...NEW, id: 7 };
    expect(draftOf(plan, 'Asia/Tokyo')).toEqual({ ...NEW, isNamed: true });
    expect(draftOf({ ...plan, service_times: [] }, 'Asia/Tokyo').timezone).toBe('Asia/Tokyo');
  });
});

describe('bodyOf(), the request of the form,', () => {
  test('omits incomplete holidays', () => {
    expect(bodyOf({ ...NEW, days_off: [{ from: '', to: '' }] }).days_off).toEqual([]);
  });
});

describe('nameAfter(), the group name proposed for a device,', () => {
  test.each([
    ["Mia's phone", [], 'Mia'],
    ['Mia’s iPad', ['mia'], 'Mia 2'],
    ['tablet.lan', [], 'tablet'],
    ['Ben', ['Ben', 'ben 2'], 'Ben 3'],
  ])('for %s with existing groups %j is %s', (device, taken, name) => {
    expect(nameAfter(device, taken)).toBe(name);
  });
});

describe('withReady() and withService(), which change the times and services of a plan,', () => {
  test('add a selected time or service, and remove a deselected one even if its hours were changed', () => {
    const changed = { ...READY_TIMES.school, start_time: '19:00' };
    expect(withReady([changed], 'bedtime', true)).toEqual([changed, READY_TIMES.bedtime]);
    expect(withReady([changed], 'school', false)).toEqual([]);
    const one = withService([], 'youtube', true);
    expect(one).toEqual([{ service_id: 'youtube', always: false }]);
    expect(withService(one, 'youtube', false)).toEqual([]);
  });
});

describe('allDaysOff(), the holidays offered in the form,', () => {
  test("lists each range of the group's schedules once, earliest first", () => {
    const [summer, winter] = [
      { from: '2026-07-01', to: '2026-08-14' },
      { from: '2026-12-23', to: '2027-01-05' },
    ];
    expect(allDaysOff([{ days_off: [winter, summer] }, { days_off: [summer] }])).toEqual([summer, winter]);
  });
});
