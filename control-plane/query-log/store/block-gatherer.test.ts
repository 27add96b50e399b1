/** Rows gathered into blocks. */
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { HOUR_MS, inWords, naiveRows } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { blockFromBytes } from '../block/log-block.ts';
import { BlockGatherer, toBatch } from './block-gatherer.ts';

describe('BlockGatherer.seal()', () => {
  test('gives each block its own memory until it is compressed', async () => {
    const rows = fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 40 });
    const groups = fc.array(fc.array(rows, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(groups, async (turns) => {
        const gatherer = new BlockGatherer();
        const sealedOf = (block: readonly QueryLogRow[]) => {
          for (const row of block) gatherer.append(row, 'full');
          return gatherer.seal()!;
        };
        for (const blocks of turns) {
          // All blocks are sealed before the first one is compressed, and are compressed concurrently.
          const batches = blocks.map(sealedOf).map((sealed) => toBatch(gatherer.runKey, sealed));
          const stored = (await Promise.all(batches)).map(({ bytes }) => naiveRows(blockFromBytes(bytes)));
          expect(stored).toEqual(blocks.map((block) => block.map(inWords)));
        }
      }),
      { numRuns: 30 },
    );
  });
});
