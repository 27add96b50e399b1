/** Encodes queries, and compares them with the results of an independent reader of the layout. */
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords, naiveRows } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';

describe('encodeBlock()', () => {
  test('writes a block that an independent decoder of the format can read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 60 }), async (rows) => {
        expect(naiveRows(await blockOf(rows))).toEqual(rows.map(inWords));
      }),
      { numRuns: 40 },
    );
  });
});
