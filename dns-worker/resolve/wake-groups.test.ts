import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { WakeGroups } from './wake-groups.ts';

let nowMs: number;
let groups: WakeGroups;
beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 1000.25;
  groups = new WakeGroups({ nowMs: () => nowMs, monotonicMs: () => nowMs });
});
afterEach(() => {
  jest.useRealTimers();
});

function advance(ms: number): void {
  for (let i = 0; i < ms; i++) {
    nowMs++;
    jest.advanceTimersByTime(1);
  }
}

describe('WakeGroups, which combines timers,', () => {
  test('makes calls that are due within 10 ms together, and none early', () => {
    const calls: string[] = [];
    for (const [name, dueMs] of [
      ['first', 1201],
      ['second', 1210],
      ['later', 1210.5],
    ] as const)
      groups.add(() => calls.push(`${name} ${String(nowMs >= dueMs)}`), dueMs);
    expect(jest.getTimerCount()).toBe(2);
    advance(200);
    expect(calls).toEqual([]);
    advance(10);
    expect(calls).toEqual(['first true', 'second true']);
    advance(10);
    expect(calls).toEqual(['first true', 'second true', 'later true']);
  });

  test('makes overdue calls immediately', () => {
    const wake = jest.fn();
    groups.add(wake, 0);
    advance(1);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('remove() cancels a call, and the timer when no call is left', () => {
    const kept = jest.fn();
    const removed = jest.fn();
    const group = groups.add(removed, 1100);
    groups.add(kept, 1100);
    groups.remove(removed, group);
    expect(jest.getTimerCount()).toBe(1);
    advance(110);
    expect(kept).toHaveBeenCalledTimes(1);
    expect(removed).not.toHaveBeenCalled();
    groups.remove(kept, groups.add(kept, 1300));
    expect(jest.getTimerCount()).toBe(0);
  });

  test('remove() of a completed call keeps the other calls of the same time', () => {
    const again = jest.fn();
    const wake = (): void => void groups.add(again, 1100);
    const group = groups.add(wake, 1100);
    nowMs = 1099;
    jest.advanceTimersByTime(100);
    groups.remove(wake, group);
    nowMs = 1100;
    jest.advanceTimersByTime(1);
    expect(again).toHaveBeenCalledTimes(1);
  });

  test('makes the other calls of a group if one throws', () => {
    const other = jest.fn();
    groups.add(() => {
      throw new Error('out of memory');
    }, 1100);
    groups.add(other, 1100);
    expect(() => advance(110)).toThrow('out of memory');
    advance(2);
    expect(other).toHaveBeenCalledTimes(1);
  });
});
