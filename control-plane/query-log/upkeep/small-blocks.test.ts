import { describe, expect, test } from '@jest/globals';
import { cutNeighbours, type Neighbours } from './small-blocks.ts';

/** A chain of blocks with these numbers of queries and these sizes in bytes. */
function chainOf(rowCounts: readonly number[], sizes = rowCounts): Neighbours {
  const firstSeqs = rowCounts.map((_, index) => rowCounts.slice(0, index).reduce((a, b) => a + b, 0));
  return { day: 1, runId: 2, nodeId: 3, firstSeqs, rowCounts, sizes };
}

const cut = (chain: Neighbours): unknown => cutNeighbours(chain).map(({ rowCounts }) => rowCounts);

describe('cutNeighbours()', () => {
  test('ends a group if the next block does not fit, and returns no group of a single block', () => {
    expect(cut(chainOf([16_000, 16_000, 16_000, 16_000, 1535, 1, 16_000]))).toEqual([
      [16_000, 16_000, 16_000, 16_000, 1535],
      [1, 16_000],
    ]);
    expect(cut(chainOf([16_000, 16_000, 16_000, 16_000, 1536]))).toEqual([[16_000, 16_000, 16_000, 16_000]]);
    expect(cutNeighbours(chainOf([5, 6]))).toEqual([chainOf([5, 6])]);
  });

  test('limits a group by its bytes and its number of blocks', () => {
    const MIB = 1024 * 1024;
    expect(cut(chainOf([1, 2, 3], [5 * MIB, 2 * MIB, 2 * MIB]))).toEqual([[2, 3]]);
    expect(cutNeighbours(chainOf(new Array<number>(300).fill(1))).map(({ sizes }) => sizes.length)).toEqual([
      256, 44,
    ]);
  });
});
