/** Compares sums of keys in a book with sums in a table. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { blockOf, HOUR_MS } from '../../../test/support/parts/blocks-of-rows.ts';
import { BlockReader } from '../block/block-reader.ts';
import { BlockTally } from './block-tally.ts';
import { BookSums } from './book-sums.ts';
import { KeySums } from './key-sums.ts';
import { KeyTable } from './key-table.ts';
import { NameBook } from './name-book.ts';
import { encodeList, NameList } from './name-list.ts';

const row = fc.record({
  name: fc.nat(12),
  group: fc.integer({ min: 1, max: 3 }),
  status: fc.constantFrom(1, 4, 12),
});
const rows = fc.array(row, { minLength: 1, maxLength: 40 });

async function readerOf(
  some: readonly { name: number; group: number; status: number }[],
): Promise<BlockReader> {
  const logged = some.map(({ name, group, status }) =>
    logRow({
      ...{ timestampMs: HOUR_MS, groupId: group, qname: wireName(`n${name}.example`) },
      status: status as 1 | 4 | 12,
    }),
  );
  return new BlockReader(await blockOf(logged));
}

async function listOf(reader: BlockReader, max?: number): Promise<NameList> {
  const tally = new BlockTally(max);
  await tally.addBlock(reader, () => Promise.resolve());
  return new NameList(await encodeList(tally.names, tally.groups));
}

describe('BookSums', () => {
  test('equal the sums of a table, also for parts that have no table of names or a different one', async () => {
    const part = fc.record({
      rows,
      byRow: fc.boolean(),
      isList: fc.boolean(),
      book: fc.nat(2),
      max: fc.constantFrom(undefined, 9),
    });
    const parts = fc.array(part, { maxLength: 5 });
    const group = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(parts, group, async (all, wanted) => {
        const books = [new NameBook(), new NameBook(), new NameBook(0)];
        const sums = new BookSums();
        const table = new KeyTable();
        for (const { rows: some, byRow, isList, book, max } of all) {
          const reader = await readerOf(some);
          const list = await listOf(reader, isList ? max : undefined);
          const known = isList ? books[book]!.takeList(list) : null;
          const names = books[book]!.takeNames(reader.nameCounts());
          expect(names === null).toBe(book === 2);
          if (known !== null) sums.addList(known, wanted);
          else if (names !== null && !isList && byRow)
            sums.addQueries(names, reader.nameOf(), [...some.keys()]);
          else if (names !== null && !isList) sums.addNames(names, names.counts);
          else list.addSumTo(sums.table, wanted);
          list.addSumTo(table, known === null && names !== null && !isList ? undefined : wanted);
        }
        const [found, expected] = [sums.keys(), table].map((keys) => new KeySums(keys, (counts) => counts));
        if (all.every(({ max }) => max === undefined)) {
          expect(Object.fromEntries(found!)).toEqual(Object.fromEntries(expected!));
          expect(found!.top(5, 'all')).toEqual(expected!.top(5, 'all'));
        }
        expect([found!.isEstimate, found!.distinct]).toEqual([expected!.isEstimate, expected!.distinct]);
      }),
      { numRuns: 60 },
    );
  });
});
