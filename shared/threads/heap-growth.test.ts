/** When the heap of a thread is collected. */
import { describe, expect, test } from '@jest/globals';
import { HeapGrowth } from './heap-growth.ts';

const MIB = 1 << 20;

/** Looks at heaps of these sizes; tells after which the heap was collected. */
function collectedAfter(sizesMib: readonly number[]): number[] {
  const collected: number[] = [];
  let usedMib = sizesMib[0]!;
  const growth = new HeapGrowth(
    () => collected.push(usedMib),
    () => usedMib * MIB,
  );
  for (usedMib of sizesMib) growth.look();
  return collected;
}

describe('HeapGrowth', () => {
  test('collects a heap that has grown by 16 MiB since it was smallest', () => {
    expect(collectedAfter([10, 20, 25])).toEqual([]);
    expect(collectedAfter([10, 20, 26])).toEqual([26]);
    expect(collectedAfter([10, 4, 20])).toEqual([20]);
  });

  test('collects again only when it has grown again, be it small after a collection or not', () => {
    expect(collectedAfter([10, 26, 30, 41, 42])).toEqual([26, 42]);
    expect(collectedAfter([10, 26, 8, 23, 24])).toEqual([26, 24]);
  });

  test('looks at the heap of its thread', () => {
    const kept: object[] = [];
    let count = 0;
    const growth = new HeapGrowth(() => count++);
    growth.look();
    expect(count).toBe(0);
    for (let i = 0; i < 400_000; i++) kept.push({ a: i, b: [i] });
    growth.look();
    expect(count).toBe(1);
    expect(kept).toHaveLength(400_000);
  });
});
