import { expect, test } from '@jest/globals';
import { stackedLayers } from './stacked-layers.ts';

test('stackedLayers() draws the sum of all parts first, and omits a part without queries', () => {
  const parts = [
    { counts: [3, 0, 5], colour: 'series-1' },
    { counts: [2, 4, 0], colour: 'series-2' },
    { counts: [1, 1, 1], colour: 'series-others' },
  ];
  expect(stackedLayers(parts).map(({ counts, fill }) => [fill, counts])).toEqual([
    ['series-others', [6, 5, 6]],
    ['series-2', [5, 4, 0]],
    ['series-1', [3, 0, 5]],
  ]);
  expect(stackedLayers([])).toEqual([]);
});
