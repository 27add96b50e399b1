/**
 * Tests the evaluator with a clock that the test moves: its start, its checks every minute, policy changes, daylight
 * saving time, setting the clock, and timers.
 */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { GrantTimes } from '../grants/grant-times.ts';
import { NO_POLICY_ROWS } from '../../policy/change/rows.ts';
import type { GroupOverride } from '../../policy/change/runtime-state.ts';
import type { PolicyRows, PolicySchedule } from '../../policy/change/rows.ts';
import { ScheduleEvaluator } from './schedule-evaluator.ts';

const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
let logger: MemoryLogger;
let evaluator: ScheduleEvaluator;
let rows: PolicyRows;
/** Snapshots that were built, each with its time and its overrides. */
let built: { at: string; overrides: Record<number, GroupOverride> }[];
let apply: () => Promise<void>;
/** Grants that have ended permanently. */
let removed: number[];

/** Evaluates like a publisher that builds a snapshot. */
const build = (): void => {
  const { nowMs, overrides } = evaluator.evaluate(rows);
  built.push({ at: new Date(nowMs).toISOString(), overrides: Object.fromEntries(overrides) });
};
const states = (): string[] =>
  built.map(({ at, overrides }) => `${at.slice(11, 19)} ${String(overrides[1]?.override)}`);
const secs = (iso: string): number => Date.parse(iso) / 1000;
const daily = (start: number, end: number, action: 'block_all' | 'allow_all' = 'block_all') => ({
  days: 127,
  start,
  end,
  action,
});
const scheduled = (...slots: PolicySchedule['slots']): PolicyRows => ({
  ...NO_POLICY_ROWS,
  groups: [{ id: 1, enabled: true }],
  schedules: [{ groupId: 1, profile: 'p', timezone: 'UTC', slots }],
});

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-05-04T11:58:30.400Z') });
  logger = new MemoryLogger();
  evaluator = new ScheduleEvaluator(clock, logger, new GrantTimes(clock));
  rows = NO_POLICY_ROWS;
  built = [];
  removed = [];
  apply = async () => build();
});
afterEach(async () => {
  await evaluator.close();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

/** Starts like `start.ts`: with the rows on disk first, then with periodic checks. */
function start(initial: PolicyRows): void {
  rows = initial;
  build();
  evaluator.start({ rows: () => rows, apply: () => apply(), endGrants: (ids) => removed.push(...ids) });
}

describe('ScheduleEvaluator', () => {
  test('evaluate() in the middle of a slot reports the current state and the end of the slot', () => {
    start(scheduled(daily(660, 720)));
    expect(built).toEqual([
      {
        at: '2026-05-04T11:58:30.400Z',
        overrides: { 1: { override: 'BlockAll', nextFlipAtSecs: secs('2026-05-04T12:00:00Z') } },
      },
    ]);
  });

  test('start() changes the state on the minute, and publishes no snapshot in between', async () => {
    start(scheduled(daily(720, 722), daily(721, 723, 'allow_all')));
    await jest.advanceTimersByTimeAsync(10 * 60_000);
    expect(states()).toEqual(['11:58:30 null', '12:00:00 BlockAll', '12:02:00 AllowAll', '12:03:00 null']);
    expect(built.map(({ at }) => at.slice(20, 23))).toEqual(['400', '000', '000', '000']);
    expect(built.at(-1)!.overrides[1]).toEqual({
      override: null,
      nextFlipAtSecs: secs('2026-05-05T12:00:00Z'),
    });
  });

  test('start() applies a slot past midnight by the weekday on which it began', async () => {
    // 2026-05-04 is a Monday.
    start(scheduled({ days: 1, start: 1430, end: 5, action: 'block_all' }));
    await jest.advanceTimersByTimeAsync(36 * 3_600_000);
    expect(built.map(({ at, overrides }) => `${at.slice(8, 16)} ${String(overrides[1]!.override)}`)).toEqual([
      '04T11:58 null',
      '04T23:50 BlockAll',
      '05T00:05 null',
    ]);
  });

  test('start() follows daylight saving time of the time zone of a schedule', async () => {
    jest.setSystemTime(Date.parse('2026-03-29T00:00:30Z'));
    const slots = [daily(150, 240)];
    start({ ...scheduled(), schedules: [{ groupId: 1, profile: 'p', timezone: 'Europe/Berlin', slots }] });
    await jest.advanceTimersByTimeAsync(3 * 3_600_000);
    // The local time 02:30 does not occur: at 01:00 UTC, clocks change from 02:00 to 03:00.
    expect(states()).toEqual(['00:00:30 null', '01:00:00 BlockAll', '02:00:00 null']);
  });

  test('a changed schedule is active in the snapshot of the change, and evaluated from then on', async () => {
    start(NO_POLICY_ROWS);
    await jest.advanceTimersByTimeAsync(10_000);
    rows = scheduled(daily(0, 1440), daily(720, 721, 'allow_all'));
    build();
    expect(states().at(-1)).toBe('11:58:40 BlockAll');
    rows = scheduled(daily(720, 721, 'allow_all'));
    build();
    await jest.advanceTimersByTimeAsync(3 * 60_000);
    rows = NO_POLICY_ROWS;
    build();
    expect(states().slice(2)).toEqual([
      '11:58:40 null',
      '12:00:00 AllowAll',
      '12:01:00 null',
      '12:01:40 undefined',
    ]);
  });

  test('a service with a schedule is blocked on the minute, and its group has the time of the next change', async () => {
    const times = { timezone: 'UTC', slots: [daily(720, 722)] };
    const service = {
      serviceId: 's',
      serviceName: 'S',
      groupId: 1,
      domains: ['s.example'],
      exact: [],
      times,
    };
    start({ ...NO_POLICY_ROWS, groups: [{ id: 1, enabled: true }], blockedServices: [service] });
    await jest.advanceTimersByTimeAsync(10 * 60_000);
    expect(states()).toEqual(['11:58:30 null', '12:00:00 null', '12:02:00 null']);
    expect(built.map(({ overrides }) => overrides[1]!.nextFlipAtSecs)).toEqual(
      ['2026-05-04T12:00:00Z', '2026-05-04T12:02:00Z', '2026-05-05T12:00:00Z'].map(secs),
    );
  });

  test('a clock that is set forward or back is noticed within a second', async () => {
    start(scheduled(daily(720, 780)));
    jest.setSystemTime(Date.parse('2026-05-04T12:30:00Z'));
    await jest.advanceTimersByTimeAsync(1000);
    jest.setSystemTime(Date.parse('2026-05-04T11:30:00Z'));
    await jest.advanceTimersByTimeAsync(1000);
    expect(states()).toEqual(['11:58:30 null', '12:30:01 BlockAll', '11:30:01 null']);
  });

  test('a failed publication of a snapshot is logged and retried after a second', async () => {
    start(scheduled(daily(719, 780)));
    let failures = 2;
    apply = async () => {
      build();
      if (failures-- > 0) throw new Error('no thread');
    };
    await jest.advanceTimersByTimeAsync(120_000);
    expect(states().slice(1)).toEqual(['11:59:00 BlockAll', '11:59:01 BlockAll', '11:59:02 BlockAll']);
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  test('the timer of the blocking switch ends for all groups at the same millisecond', async () => {
    const until = '2026-05-04T12:00:10.250Z';
    const groups = [1, 7].map((id) => ({ id, enabled: true }));
    start({ ...NO_POLICY_ROWS, groups, blockingSwitch: { enabled: false, until } });
    const waiting = { override: null, nextFlipAtSecs: secs('2026-05-04T12:00:10Z') };
    expect(built[0]!.overrides).toEqual({ 1: waiting, 7: waiting });
    await jest.advanceTimersByTimeAsync(300_000);
    expect(built.slice(1)).toEqual([{ at: until, overrides: {} }]);
  });

  test('a grant ends at its millisecond, is reported as ended, and is not extended by a clock that is set back', async () => {
    const grant = (id: number, until: string): PolicyRows['grants'][number] => {
      const who = {
        domain: null,
        subdomains: true,
        action: 'allow',
        groupId: 1,
        clientId: null,
        mac: null,
        address: null,
      } as const;
      return { ...who, id, untilMs: Date.parse(until), createdMs: 0 };
    };
    rows = {
      ...NO_POLICY_ROWS,
      grants: [grant(4, '2026-05-04T11:58:40.123Z'), grant(5, '2026-05-04T12:00:00Z')],
    };
    const granted: string[] = [];
    const check = (): void => {
      const { grants, endedGrants } = evaluator.evaluate(rows);
      granted.push(`${new Date().toISOString().slice(14, 23)} ${grants.map(({ id }) => id).join()}`);
      rows = { ...rows, grants: rows.grants.filter(({ id }) => !endedGrants.has(id)) };
    };
    check();
    evaluator.start({
      rows: () => rows,
      apply: async () => check(),
      endGrants: (ids) => removed.push(...ids),
    });
    await jest.advanceTimersByTimeAsync(30_000);
    expect(granted).toEqual(['58:30.400 4,5', '58:40.123 5']);
    expect(removed).toEqual([4]);
    jest.setSystemTime(Date.parse('2026-05-04T11:00:00Z'));
    await jest.advanceTimersByTimeAsync(58_600);
    expect(granted).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1001);
    expect(removed).toEqual([4, 5]);
    expect(rows.grants).toEqual([]);
  });

  test('a schedule with an unknown time zone never changes the state of its group', () => {
    const slots = [daily(0, 1440)];
    start({ ...scheduled(), schedules: [{ groupId: 1, profile: 'p', timezone: 'Nowhere/City', slots }] });
    expect(built[0]!.overrides).toEqual({ 1: { override: null, nextFlipAtSecs: 0 } });
  });
});
