import { describe, expect, test } from '@jest/globals';
import type { CoreTime } from './core-time.ts';
import { Heartbeat } from './heartbeat.ts';

/** A heartbeat that is looked at, and the core time that its thread has at each look. */
function looks(beats: readonly number[], times: (look: number) => CoreTime | null): boolean[] {
  let look = 0;
  const heartbeat = new Heartbeat('any', () => times(look));
  return beats.map((beat) => {
    look++;
    return heartbeat.startsToHang(beat);
  });
}

const SPINNING = (look: number): CoreTime => ({ ranMs: look * 1000, waitedMs: 0 });
const WAITING = (look: number): CoreTime => ({ ranMs: 5, waitedMs: look * 1000 });

describe('Heartbeat', () => {
  test('says once that a thread hangs, at its third missed beat', () => {
    expect(looks([1, 2, 2, 2, 2, 2], SPINNING)).toEqual([false, false, false, false, true, false]);
    expect(looks([1, 1, 1, 2, 2, 2, 2], SPINNING)).toEqual([
      ...[false, false, false, false, false, false, true],
    ]);
  });

  test('says so of a thread that sleeps, and where the system tells nothing', () => {
    expect(looks([1, 1, 1, 1], () => ({ ranMs: 5, waitedMs: 0 }))).toEqual([false, false, false, true]);
    expect(looks([1, 1, 1, 1], () => null)).toEqual([false, false, false, true]);
  });

  test('waits for a thread that others keep from running, until it has run and is not heard of', () => {
    expect(looks([1, 1, 1, 1, 1, 2], WAITING)).toEqual([false, false, false, false, false, false]);
    const runsLater = (look: number): CoreTime =>
      look < 6 ? WAITING(look) : { ranMs: 400, waitedMs: 6_000 };
    expect(looks([1, 1, 1, 1, 1, 1], runsLater)).toEqual([false, false, false, false, false, true]);
  });
});
