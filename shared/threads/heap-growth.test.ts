/** When the heap of a thread is collected, and when it is shrunk. */
import { describe, expect, test } from '@jest/globals';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HeapGrowth } from './heap-growth.ts';

const MIB = 1 << 20;

/** A sample of a heap: MiB in use and reserved, and the share of a core that the thread uses. */
type Sample = readonly [usedMib: number, takenMib?: number, share?: number];

/**
 * Processes samples of heaps and returns the actions taken. A heap that was shrunk reserves 1 MiB more than it uses.
 */
function done(samples: readonly Sample[], maxShare = 1): string[] {
  const log: string[] = [];
  let [usedMib, takenMib = usedMib, share = 1] = samples[0]!;
  const growth = new HeapGrowth({
    sizes: () => ({ used: usedMib * MIB, inHeap: usedMib * MIB, taken: takenMib * MIB }),
    workedShare: () => share,
    usedCores: () => share,
    collect: () => log.push(`collect ${usedMib}`),
    shrink: () => {
      log.push(`shrink ${takenMib}`);
      takenMib = usedMib + 1;
    },
    maxShare,
  });
  for (const sample of samples) {
    [usedMib, takenMib = usedMib, share = 1] = sample;
    growth.check();
  }
  return log;
}

/** Processes samples of the heap of a busy thread. */
const busy = (sizesMib: readonly number[]): string[] => done(sizesMib.map((usedMib) => [usedMib]));

setFlagsFromString('--expose-gc');
const collectOnce = runInNewContext('gc') as () => void;

/** Collects until nothing is left, because garbage of another test file disappears gradually. */
function collectGarbage(): void {
  const used = (): number => getHeapStatistics().used_heap_size;
  for (let before = Infinity; used() < before - MIB / 4;) {
    before = used();
    collectOnce();
  }
}

describe('HeapGrowth, which decides when to collect garbage,', () => {
  test('collects a heap that has grown by 16 MiB since its minimum', () => {
    expect(busy([10, 20, 25])).toEqual([]);
    expect(busy([10, 20, 26])).toEqual(['collect 26']);
    expect(busy([10, 4, 20])).toEqual(['collect 20']);
  });

  test('collects again only when the heap has grown again, even if the first collection did not shrink it', () => {
    expect(busy([10, 26, 30, 41, 42])).toEqual(['collect 26', 'collect 42']);
    expect(busy([10, 26, 8, 23, 24])).toEqual(['collect 26', 'collect 24']);
  });

  test('does not collect in a thread that is busier than the limit', () => {
    const samples = (share: number): Sample[] => [
      [10, 10, 1],
      [30, 50, share],
    ];
    expect(done(samples(0.4), 0.3)).toEqual([]);
    expect(done(samples(0.2), 0.3)).toEqual(['collect 30']);
  });

  test('collects the heap of a quiet process when it has grown by 4 MiB', () => {
    const samples: Sample[] = [
      [10, 10],
      [13, 13, 0.01],
      [14, 14, 0.01],
      [17, 17, 0.01],
    ];
    expect(done(samples)).toEqual(['shrink 13', 'collect 17']);
  });

  test('shrinks a heap that is 12 MiB larger than needed, once the process is quiet', () => {
    expect(
      done([
        [10, 10],
        [14, 40],
        [14, 40, 0.01],
        [14, 15, 0],
        [14, 26, 0],
      ]),
    ).toEqual(['shrink 40']);
  });

  test('shrinks a heap that is 2 MiB larger than needed once after the start', () => {
    const samples: Sample[] = [
      [10, 14],
      [10, 12, 0],
      [10, 13, 0],
      [10, 14, 0],
    ];
    expect(done(samples)).toEqual(['shrink 13']);
  });

  test('stops shrinking a heap if shrinking has no effect', () => {
    const samples: Sample[] = [
      [10, 10],
      [30, 40, 0],
      [10, 31, 0],
      [10, 43, 0],
      [10, 44, 0],
    ];
    expect(done(samples)).toEqual(['shrink 40', 'shrink 44']);
  });

  test('collects and shrinks the heap of the current thread', () => {
    const kept: object[] = [];
    const looked: string[] = [];
    // Garbage from elsewhere that V8 collects during the test would hide the growth.
    collectGarbage();
    const growth = new HeapGrowth({
      collect: () => looked.push('collect'),
      workedShare: () => 1,
      // On a busy machine this process may look idle.
      usedCores: () => 1,
    });
    growth.check();
    expect(looked).toEqual([]);
    for (let i = 0; i < 400_000; i++) kept.push({ a: i, b: [i] });
    growth.check();
    expect(looked).toEqual(['collect']);
    expect(kept).toHaveLength(400_000);
    kept.length = 0;
    const before = getHeapStatistics().total_physical_size;
    const quiet = new HeapGrowth({
      usedCores: () => 0,
      sizes: () => ({ used: 0, inHeap: 0, taken: getHeapStatistics().total_physical_size }),
    });
    quiet.check();
    expect(before - getHeapStatistics().total_physical_size).toBeGreaterThan(12 * MIB);
  });
});
