import { describe, expect, test } from '@jest/globals';
import { ClockWatch } from './clock-watch.ts';

const HOUR_MS = 3_600_000;

describe('ClockWatch', () => {
  test('isSettled() is true after six hours without a step of the clock, and again six hours after a step', () => {
    let wallMs = Date.UTC(2026, 0, 1);
    let monotonicMs = 0;
    const watch = new ClockWatch({ nowMs: () => wallMs, monotonicMs: () => monotonicMs });
    /** Lets an hour pass, in which the wall clock gains this many milliseconds. */
    const hour = (gainMs = 0): boolean => {
      wallMs += HOUR_MS + gainMs;
      monotonicMs += HOUR_MS;
      return watch.isSettled();
    };
    const sixHours = (): boolean[] => Array.from({ length: 6 }, () => hour());
    expect(watch.isSettled()).toBe(false);
    expect(sixHours()).toEqual([false, false, false, false, false, true]);
    expect(hour(10_000)).toBe(true);
    expect(hour(365 * 24 * HOUR_MS)).toBe(false);
    expect(sixHours()).toEqual([false, false, false, false, false, true]);
    expect(hour(-365 * 24 * HOUR_MS)).toBe(false);
    expect(sixHours().at(-1)).toBe(true);
  });

  test('isSettled() does not treat suspension of the machine as a step', () => {
    let awakeMs = 0;
    let asleepMs = 0;
    const watch = new ClockWatch({
      nowMs: () => Date.UTC(2026, 0, 1) + awakeMs + asleepMs,
      monotonicMs: () => awakeMs,
      bootMs: () => awakeMs + asleepMs,
    });
    awakeMs += 3 * HOUR_MS;
    expect(watch.isSettled()).toBe(false);
    asleepMs += 8 * HOUR_MS;
    awakeMs += 1000;
    expect(watch.isSettled()).toBe(true);
  });
});
