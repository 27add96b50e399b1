import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { until, within } from '../../test/support/parts/until.ts';
import { makeTempDir } from '../../test/support/weir/data-dir.ts';
import type { CoreTime } from './heartbeat.ts';
import { coreTimeOf, Heartbeat, wasStarved } from './heartbeat.ts';

/** Results of several checks of a heartbeat, with the CPU time of its thread at each check. */
function looks(beats: readonly number[], times: (check: number) => CoreTime | null): boolean[] {
  let check = 0;
  const heartbeat = new Heartbeat('any', () => times(check));
  return beats.map((beat) => {
    check++;
    return heartbeat.startsToHang(beat);
  });
}

const SPINNING = (check: number): CoreTime => ({ ranMs: check * 1000, waitedMs: 0 });
const WAITING = (check: number): CoreTime => ({ ranMs: 5, waitedMs: check * 1000 });

describe('Heartbeat', () => {
  test('reports a thread that hangs once, at its third missed heartbeat', () => {
    expect(looks([1, 2, 2, 2, 2, 2], SPINNING)).toEqual([false, false, false, false, true, false]);
    expect(looks([1, 1, 1, 2, 2, 2, 2], SPINNING)).toEqual([
      ...[false, false, false, false, false, false, true],
    ]);
  });

  test('reports a thread that sleeps, even if the system reports no CPU times', () => {
    expect(looks([1, 1, 1, 1], () => ({ ranMs: 5, waitedMs: 0 }))).toEqual([false, false, false, true]);
    expect(looks([1, 1, 1, 1], () => null)).toEqual([false, false, false, true]);
  });

  test('does not report a thread that gets no CPU time until it has run without a heartbeat', () => {
    expect(looks([1, 1, 1, 1, 1, 2], WAITING)).toEqual([false, false, false, false, false, false]);
    const runsLater = (check: number): CoreTime =>
      check < 6 ? WAITING(check) : { ranMs: 400, waitedMs: 6_000 };
    expect(looks([1, 1, 1, 1, 1, 1], runsLater)).toEqual([false, false, false, false, false, true]);
  });
});

describe('coreTimeOf()', () => {
  test('grows with the CPU time of a thread, and is null for an unknown thread', async () => {
    const spinning = new Worker('for (;;);', { eval: true, name: 'core-time-spin' });
    try {
      await within('the thread to start', once(spinning, 'online'));
      const before = coreTimeOf('core-time-spin')!;
      await until(
        'the thread to run 20 ms',
        () => coreTimeOf('core-time-spin')!.ranMs,
        (now) => now > before.ranMs + 20,
      );
    } finally {
      await spinning.terminate();
    }
    // The kernel lists a thread for a moment after it was joined.
    await until(
      'the thread to be gone',
      () => coreTimeOf('core-time-spin'),
      (now) => now === null,
    );
  });

  test('finds a thread even if another thread ends during the search', () => {
    const tempDir = makeTempDir();
    for (const tid of ['1', '2']) mkdirSync(join(tempDir.path, tid));
    writeFileSync(join(tempDir.path, '2', 'comm'), 'found\n');
    writeFileSync(join(tempDir.path, '2', 'schedstat'), '3000000 4000000 5\n');
    expect(coreTimeOf('found', tempDir.path)).toEqual({ ranMs: 3, waitedMs: 4 });
    tempDir.remove();
  });
});

describe('wasStarved()', () => {
  const before = { ranMs: 1_000, waitedMs: 100 };
  test.each([
    ['waited for a CPU core all the time', { ranMs: 1_010, waitedMs: 2_050 }, true],
    ['ran all the time, so that its event loop hangs', { ranMs: 3_000, waitedMs: 110 }, false],
    ['ran now and then, long enough for a turn of its event loop', { ranMs: 1_400, waitedMs: 1_700 }, false],
    ['slept', { ranMs: 1_001, waitedMs: 101 }, false],
    ['has unknown CPU times', null, false],
  ])('for a thread that %s', (_, now, expected) => {
    expect(wasStarved(before, now)).toBe(expected);
  });
});
