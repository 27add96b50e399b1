import { expect, test } from '@jest/globals';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { CpuShares } from './cpu-shares.ts';

test('CpuShares percents() returns the shares since the last call, and the same values if called again soon', () => {
  const clock = new TestClock();
  let times = new Map([['process', 4]]);
  const shares = new CpuShares(clock, clock.monotonicMs() - 8000, () => times);
  const now = (): unknown => Object.fromEntries(shares.percents());
  expect(now()).toEqual({ process: 50 });
  times = new Map([
    ['process', 5.5],
    ['answer 0', 0.5],
  ]);
  clock.advance(999);
  expect(now()).toEqual({ process: 50 });
  clock.advance(1001);
  expect(now()).toEqual({ process: 75, 'answer 0': 25 });
  // The thread was replaced, so its CPU time starts from 0.
  times = new Map([
    ['process', 6],
    ['answer 0', 0.1],
  ]);
  clock.advance(1000);
  expect(now()).toEqual({ process: 50, 'answer 0': 0 });
});
