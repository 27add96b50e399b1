/** Merges small neighbouring blocks: consecutive queries of one run within one hour. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeBlock, sealBlock } from './block-encoder.ts';
import { BlockReader } from './block-reader.ts';
import { forEachRepeat, forEachRow } from './block-rows.ts';
import { type BlockHead, type EncodedBlock, MAX_BLOCK_ROWS } from './block-layout.ts';
import { type StoredParts, OpenBlock } from './open-block.ts';

/** Merging keeps all parts, because parts that privacy settings exclude were already removed from the blocks. */
const ALL: StoredParts = { ipv4Bytes: 4, ipv6Bytes: 16, answers: true, clientIds: true };

/** The queries of all blocks, in order; lets other work of the thread run between blocks. @throws {DamagedBlock} */
export async function mergeBlocks(blocks: readonly EncodedBlock[]): Promise<EncodedBlock> {
  const rows = blocks.reduce((sum, block) => sum + block.rowCount, 0);
  if (rows > MAX_BLOCK_ROWS) throw new RangeError(`could not merge blocks: ${rows} queries do not fit`);
  const merged = new OpenBlock();
  const heads: { head: BlockHead; firstRow: number }[] = [];
  for (const block of blocks) {
    const reader = new BlockReader(block);
    heads.push({ head: reader.head, firstRow: merged.rowCount });
    forEachRow(reader, (row, timestampUs) => {
      if (!merged.accepts(timestampUs))
        throw new RangeError('could not merge blocks: they belong to different hours');
      merged.add(row, timestampUs, ALL);
    });
    await nextTurn();
  }
  // Repeats are added after all rows, because their clients get only the space that the clients of rows leave.
  for (const { head, firstRow } of heads)
    forEachRepeat(head, (row, client, queries) => merged.carryRepeats(firstRow + row, client, queries));
  return encodeBlock(sealBlock(merged));
}
