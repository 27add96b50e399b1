import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { LogBatch } from './log-batch.ts';
import { UnsettledBatches } from './unsettled-batches.ts';

const MIB = 1024 * 1024;

afterEach(() => {
  jest.restoreAllMocks();
});

function batch(id: string, sizeBytes = 1): LogBatch {
  return { id, rowCount: 1, bytes: Buffer.alloc(sizeBytes) };
}

function idsOf(batches: readonly LogBatch[]): string[] {
  return batches.map(({ id }) => id);
}

describe('UnsettledBatches', () => {
  test('removeUnsettled() returns each batch once, back to ten seconds before the newest one', () => {
    let nowMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const unsettled = new UnsettledBatches();
    for (const [id, atMs] of [
      ['a', 0],
      ['b', 1],
      ['c', 10_001],
    ] as const) {
      nowMs = atMs;
      unsettled.add(batch(id), '1');
    }
    nowMs = 3_600_000;
    expect(idsOf(unsettled.removeUnsettled())).toEqual(['b', 'c']);
    expect(unsettled.removeUnsettled()).toEqual([]);
  });

  test('add() keeps the newest 64 MiB', () => {
    const unsettled = new UnsettledBatches();
    for (const id of ['a', 'b', 'c']) unsettled.add(batch(id, 32 * MIB), '1');
    expect(idsOf(unsettled.removeUnsettled())).toEqual(['b', 'c']);
  });

  test('add() returns batches that another PostgreSQL timeline acknowledged', () => {
    const unsettled = new UnsettledBatches();
    expect(['a', 'b'].map((id) => unsettled.add(batch(id), '1'))).toEqual([[], []]);
    expect(idsOf(unsettled.add(batch('c'), '2'))).toEqual(['a', 'b']);
    expect(unsettled.add(batch('d'), '2')).toEqual([]);
    expect(idsOf(unsettled.removeUnsettled())).toEqual(['c', 'd']);
  });
});
