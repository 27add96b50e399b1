/** Encodes queries and reads them back. */
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords, type Words } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { BlockReader } from './block-reader.ts';
import { forEachRow } from './block-rows.ts';

describe('forEachRow()', () => {
  test('returns every field of all queries that were added to a block', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 60 }), async (rows) => {
        const reader = new BlockReader(await blockOf(rows));
        const found: Words[] = [];
        forEachRow(reader, (row) => found.push(inWords(row)));
        expect(found).toEqual(rows.map(inWords));
        expect(countsOf(reader)).toEqual({ clients: rows.length, outcomes: rows.length, names: rows.length });
      }),
      { numRuns: 60 },
    );
  });
});

function countsOf(reader: BlockReader): { clients: number; outcomes: number; names: number } {
  const { clients, outcomes } = reader.head;
  return {
    clients: clients.reduce((sum, [, , queries]) => sum + queries, 0),
    outcomes: outcomes.reduce((sum, outcome) => sum + outcome[7], 0),
    names: reader.names().counts.reduce((sum, queries) => sum + queries, 0),
  };
}
