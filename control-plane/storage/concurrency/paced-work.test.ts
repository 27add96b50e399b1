import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PacedWork } from './paced-work.ts';

const PAUSE_MS = 1000;
/** Runs that have begun; calling an element ends its run. */
let runs: (() => void)[];
let paced: PacedWork;

beforeEach(() => {
  jest.useFakeTimers();
  runs = [];
  paced = new PacedWork(() => new Promise((resolve) => runs.push(resolve)), PAUSE_MS);
});
afterEach(() => {
  jest.useRealTimers();
});

describe('PacedWork', () => {
  test('runs immediately, and then once for all requests during a run and the pause after it', async () => {
    paced.request();
    expect(runs).toHaveLength(1);
    paced.request();
    runs[0]!();
    await jest.advanceTimersByTimeAsync(PAUSE_MS - 1);
    paced.request();
    expect(runs).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(runs).toHaveLength(2);
    runs[1]!();
    await jest.advanceTimersByTimeAsync(5 * PAUSE_MS);
    expect(runs).toHaveLength(2);
    paced.request();
    expect(runs).toHaveLength(3);
  });

  test('settle() does not wait for the pause, but for a run that was requested during another run', async () => {
    paced.request();
    paced.request();
    let isSettled = false;
    const settled = paced.settle().then(() => (isSettled = true));
    runs[0]!();
    await jest.advanceTimersByTimeAsync(0);
    expect(runs).toHaveLength(2);
    expect(isSettled).toBe(false);
    runs[1]!();
    await settled;
    paced.request();
    expect(runs).toHaveLength(2);
    const again = paced.settle();
    expect(runs).toHaveLength(3);
    runs[2]!();
    await again;
    await paced.settle();
  });
});
