import { describe, expect, test } from '@jest/globals';
import { blockOf, HOUR_MS } from '../../../test/support/parts/blocks-of-rows.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { BlockReader } from '../block/block-reader.ts';
import { BlockTally } from './block-tally.ts';
import { NameBook } from './name-book.ts';
import { encodeList, NameList } from './name-list.ts';

async function readerOf(...names: string[]): Promise<BlockReader> {
  const rows = names.map((name) => logRow({ timestampMs: HOUR_MS, qname: wireName(name) }));
  return new BlockReader(await blockOf(rows));
}

async function listOf(reader: BlockReader): Promise<NameList> {
  const tally = new BlockTally();
  await tally.addBlock(reader, () => Promise.resolve());
  return new NameList(await encodeList(tally.names, tally.groups));
}

describe('NameBook', () => {
  test('gives a name the same index in blocks and in top lists', async () => {
    const book = new NameBook();
    const reader = await readerOf('b.test', 'a.test', 'b.test');
    expect(book.takeNames(reader.nameCounts())).toMatchObject({
      places: Uint32Array.of(0, 1),
      counts: Uint16Array.of(2, 1),
    });
    const list = book.takeList(await listOf(reader))!;
    // Entries are in the order of their texts.
    expect(list).toMatchObject({ places: Uint32Array.of(1, 0), groups: [1], unseen: 0, sketch: null });
    expect(list.resolved).toEqual(Uint32Array.of(1, 2));
    expect(list.book.size).toBe(2);
  });

  test('refuses names beyond its capacity', async () => {
    const book = new NameBook(5);
    expect(book.takeNames((await readerOf('a.test', 'b.test', 'c.test')).nameCounts())).not.toBeNull();
    const reader = await readerOf('a.test', 'd.test', 'e.test');
    expect(book.takeNames(reader.nameCounts())).toBeNull();
    expect(book.takeList(await listOf(reader))).toBeNull();
  });

  test('counts beyond 32 bits', async () => {
    const list = await listOf(await readerOf('a.test'));
    list.counts[0]![0] = 2 ** 40;
    expect(new NameBook().takeList(list)!.resolved[0]).toBe(2 ** 40);
  });
});
