/** Cache of blocks: entries are only found for the same version of a block, and the total size is limited. */
import { describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { blockOf, HOUR_MS } from '../../../test/support/parts/blocks-of-rows.ts';
import { BlockReader } from '../block/block-reader.ts';
import { LogMemory } from './log-memory.ts';
import type { StoredBlock } from './stored-block.ts';

async function stored(name: string, firstSeq = 0): Promise<StoredBlock> {
  const rows = [1, 2].map((i) => logRow({ timestampMs: HOUR_MS, qname: wireName(`${name}${i}.example`) }));
  return { ...(await blockOf(rows)), runId: 7, firstSeq, nodeId: 1 };
}

function remember(memory: LogMemory, block: StoredBlock, isAtOnce = true): boolean {
  const reader = new BlockReader(block);
  memory.keepHead(block, reader.head);
  return memory.keepNames(block, reader, isAtOnce) !== undefined;
}

describe('LogMemory', () => {
  test('finds an unchanged block again, but not a block that replaced it', async () => {
    const memory = new LogMemory();
    const block = await stored('a');
    remember(memory, block);
    expect(memory.findBlock({ ...block })?.head).toEqual(new BlockReader(block).head);
    expect(memory.findBlock(await stored('b'))).toBeUndefined();
    for (const change of [{ runId: 8 }, { firstSeq: 1 }, { rowCount: 3 }, { lastUs: 0 }, { lengths: [] }])
      expect(memory.findBlock({ ...block, ...change })).toBeUndefined();
  });

  test('caches names when they are read the second time, or immediately if requested', async () => {
    const memory = new LogMemory();
    const [one, two] = [await stored('a', 1), await stored('a', 2)];
    expect(remember(memory, one, false)).toBe(false);
    expect(memory.keepNames(one, new BlockReader(one))?.places).toEqual(Uint32Array.of(0, 1));
    expect(memory.findBlock(one)?.names).toBeDefined();
    expect(remember(memory, two)).toBe(true);
    expect(memory.findBlock(two)?.names?.book).toBe(memory.findBlock(one)?.names?.book);
  });

  test('replaces a full table of names, but not at every search', async () => {
    const memory = new LogMemory(1e6, 3);
    const blocks = [await stored('a', 1), await stored('b', 2)];
    expect(blocks.map((block) => remember(memory, block))).toEqual([true, false]);
    expect(blocks.map((block) => memory.findBlock(block)?.names !== undefined)).toEqual([true, false]);
    for (let i = 0; i < 16; i++) memory.beginQuestion();
    expect(remember(memory, blocks[1]!)).toBe(false);
    expect(memory.findBlock(blocks[0]!)).toBeUndefined();
    expect(remember(memory, blocks[1]!)).toBe(true);
  });

  test('stores no more bytes than its limit', async () => {
    const memory = new LogMemory(2000);
    const blocks = [await stored('a', 1), await stored('a', 2)];
    for (const block of blocks) remember(memory, block);
    expect(blocks.map((block) => memory.findBlock(block) !== undefined)).toEqual([true, false]);
  });
});
