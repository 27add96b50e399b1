import { describe, expect, test } from '@jest/globals';
import { Semaphore } from './semaphore.ts';

describe('Semaphore', () => {
  test('runs at most as many tasks at once as its limit allows, and starts them in order, even after failures', async () => {
    const semaphore = new Semaphore(2);
    const started: number[] = [];
    let running = 0;
    let max = 0;
    const work = (index: number) =>
      semaphore.run(async () => {
        started.push(index);
        max = Math.max(max, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (index % 2 === 0) throw new Error(`work ${index}`);
        return index;
      });
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4, 5].map(work));
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
    expect(max).toBe(2);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    await expect(semaphore.run(async () => 'free again')).resolves.toBe('free again');
  });
});
