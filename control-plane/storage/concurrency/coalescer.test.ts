import { describe, expect, test } from '@jest/globals';
import { Coalescer } from './coalescer.ts';

/** Work whose runs end when the test decides. */
class SteeredWork {
  runs: { end: () => void; fail: () => void }[] = [];
  readonly coalescer = new Coalescer(
    () =>
      new Promise((resolve, reject) => {
        this.runs.push({ end: resolve, fail: () => reject(new Error('failed')) });
      }),
  );
}

describe('Coalescer', () => {
  test('runs once for several calls during a run', async () => {
    const work = new SteeredWork();
    const first = work.coalescer.run();
    const burst = [work.coalescer.run(), work.coalescer.run(), work.coalescer.run()];
    expect(work.runs).toHaveLength(1);
    work.runs[0]!.end();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(work.runs).toHaveLength(2);
    work.runs[1]!.end();
    await Promise.all(burst);
    expect(work.runs).toHaveLength(2);
  });

  test('returns to each caller the outcome of a run that started at or after its call', async () => {
    const work = new SteeredWork();
    const first = work.coalescer.run();
    const second = work.coalescer.run();
    work.runs[0]!.fail();
    await expect(first).rejects.toThrow('failed');
    await new Promise((resolve) => setImmediate(resolve));
    work.runs[1]!.end();
    await expect(second).resolves.toBeUndefined();
  });

  test('idle() waits for the active run and for the queued run', async () => {
    const work = new SteeredWork();
    const runs = [work.coalescer.run(), work.coalescer.run()];
    let isIdle = false;
    const idle = work.coalescer.idle().then(() => (isIdle = true));
    work.runs[0]!.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIdle).toBe(false);
    work.runs[1]!.end();
    await Promise.all([...runs, idle]);
    expect(isIdle).toBe(true);
  });
});
