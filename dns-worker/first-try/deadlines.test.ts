import { describe, expect, test } from '@jest/globals';
import { Deadlines } from './deadlines.ts';

/** The entries that have expired at a time, in order. */
function expiredBy(deadlines: Deadlines, nowMs: number): number[] {
  const entries: number[] = [];
  for (let entry = deadlines.expired(nowMs); entry >= 0; entry = deadlines.expired(nowMs))
    entries.push(entry);
  return entries;
}

describe('Deadlines, a timer wheel,', () => {
  test('expired() returns entries in the order of their deadlines, never early', () => {
    const deadlines = new Deadlines(8, 1000);
    deadlines.add(0, 1000, 300);
    deadlines.add(1, 1000, 100);
    deadlines.add(2, 1001, 200);
    expect(expiredBy(deadlines, 1099)).toEqual([]);
    expect(expiredBy(deadlines, 1104)).toEqual([1]);
    expect(expiredBy(deadlines, 1400)).toEqual([2, 0]);
    expect(deadlines.isEmpty).toBe(true);
  });

  test('remove() removes an entry from the middle of its tick, and ignores an entry without a deadline', () => {
    const deadlines = new Deadlines(4, 0);
    for (const entry of [0, 1, 2, 3]) deadlines.add(entry, 0, 100);
    deadlines.remove(2);
    deadlines.remove(2);
    expect(expiredBy(deadlines, 100).sort()).toEqual([0, 1, 3]);
    deadlines.remove(0);
    expect(deadlines.isEmpty).toBe(true);
  });

  test('remove() keeps the other entries of a tick when the first or last entry is removed', () => {
    const deadlines = new Deadlines(6, 0);
    for (const entry of [0, 1, 2]) deadlines.add(entry, 0, 100);
    for (const entry of [3, 4, 5]) deadlines.add(entry, 0, 200);
    for (const entry of [0, 2, 3, 5]) deadlines.remove(entry);
    expect(expiredBy(deadlines, 100)).toEqual([1]);
    expect(expiredBy(deadlines, 200)).toEqual([4]);
  });

  test('expired() keeps the order across many turns of the wheel', () => {
    const deadlines = new Deadlines(2, 0);
    for (let nowMs = 0; nowMs < 20_000; nowMs += 500) {
      deadlines.add(0, nowMs, 450);
      deadlines.add(1, nowMs, 250);
      expect(expiredBy(deadlines, nowMs + 240)).toEqual([]);
      expect(expiredBy(deadlines, nowMs + 480)).toEqual([1, 0]);
    }
  });

  test('add() shortens a deadline that is beyond the span of the wheel to the end of that span', () => {
    const deadlines = new Deadlines(2, 0);
    deadlines.add(0, 0, 60_000);
    deadlines.add(1, 0, 100);
    expect(expiredBy(deadlines, 2000)).toEqual([1]);
    expect(expiredBy(deadlines, 2048)).toEqual([0]);
  });

  test('add() after a long idle time counts from the current time', () => {
    const deadlines = new Deadlines(2, 0);
    deadlines.add(0, 0, 100);
    expect(expiredBy(deadlines, 100)).toEqual([0]);
    deadlines.add(1, 1_000_000, 100);
    expect(deadlines.untilNextMs(1_000_000)).toBe(100);
    expect(expiredBy(deadlines, 1_000_099)).toEqual([]);
    expect(expiredBy(deadlines, 1_000_100)).toEqual([1]);
  });

  test('add() of a deadline in the past expires at the next turn', () => {
    const deadlines = new Deadlines(2, 0);
    deadlines.add(0, 0, 400);
    expect(expiredBy(deadlines, 200)).toEqual([]);
    deadlines.add(1, 100, 10);
    expect(deadlines.untilNextMs(204)).toBe(0);
    expect(expiredBy(deadlines, 204)).toEqual([1]);
  });

  test('expired() returns an early long deadline before a short deadline added much later', () => {
    const deadlines = new Deadlines(2, 0);
    deadlines.add(0, 0, 2000);
    deadlines.add(1, 1900, 400);
    expect(expiredBy(deadlines, 2296)).toEqual([0]);
    expect(expiredBy(deadlines, 2300)).toEqual([1]);
  });

  test('untilNextMs() is the time to the earliest deadline, 0 once it has passed, and Infinity without deadlines', () => {
    const deadlines = new Deadlines(2, 0);
    expect(deadlines.untilNextMs(0)).toBe(Infinity);
    deadlines.add(0, 0, 200);
    deadlines.add(1, 0, 100);
    expect(deadlines.untilNextMs(60)).toBe(40);
    expect(deadlines.untilNextMs(300)).toBe(0);
    deadlines.remove(1);
    expect(deadlines.untilNextMs(60)).toBe(140);
  });
});
