import { describe, expect, test } from '@jest/globals';
import { differingRows, withChanges } from './row-differences.ts';

const row = (id: number, text = '') => ({ id, text });

describe('differingRows()', () => {
  test('finds new, deleted and changed rows at every position', () => {
    const [a, b, c, d] = [row(1), row(3), row(5), row(7)];
    const changed = row(5, 'other');
    expect(differingRows([a, b, c], [row(0), a, changed, d])).toEqual({
      gone: [b, c],
      fresh: [row(0), changed, d],
    });
    expect(differingRows([a, b], [a, b])).toEqual({ gone: [], fresh: [] });
    expect(differingRows([], [a])).toEqual({ gone: [], fresh: [a] });
    expect(differingRows([a], [])).toEqual({ gone: [a], fresh: [] });
  });
});

describe('withChanges()', () => {
  test('keeps the order of IDs and the rows that did not change', () => {
    const [a, b, c] = [row(1), row(3), row(5)];
    const after = withChanges([a, b, c], { ids: [3, 4, 9], rows: [row(4), row(3, 'other')] });
    expect(after).toEqual([a, row(3, 'other'), row(4), c]);
    expect(after[0]).toBe(a);
  });
});
