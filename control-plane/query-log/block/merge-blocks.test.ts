/** Merging of small blocks. */
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords, naiveRows } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { mergeBlocks } from './merge-blocks.ts';

describe('mergeBlocks()', () => {
  test('keeps all queries in order', async () => {
    const several = fc.array(fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 15 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(several, async (parts) => {
        const merged = await mergeBlocks(await Promise.all(parts.map((part) => blockOf(part))));
        expect(naiveRows(merged)).toEqual(parts.flat().map(inWords));
      }),
      { numRuns: 15 },
    );
  });

  test('refuses blocks of different hours, and more queries than a block can contain', async () => {
    const [first] = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 1, seed: 1 });
    const [second] = fc.sample(arbitraryLogRow(HOUR_MS + 3_600_000), { numRuns: 1, seed: 1 });
    const blocks = [await blockOf([first!]), await blockOf([second!])];
    await expect(mergeBlocks(blocks)).rejects.toThrow('different hours');
    await expect(mergeBlocks([{ ...blocks[0]!, rowCount: 65_535 }, blocks[0]!])).rejects.toThrow(
      'do not fit',
    );
  });
});
