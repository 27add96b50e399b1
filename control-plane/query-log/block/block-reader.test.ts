/** Reading of damaged blocks. */
import { crc32, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { encodeBlock, sealBlock } from './block-encoder.ts';
import { type StoredParts, OpenBlock } from './open-block.ts';
import { BlockReader } from './block-reader.ts';
import { DamagedBlock, type EncodedBlock } from './block-layout.ts';

describe('BlockReader', () => {
  test('detects every changed bit', async () => {
    const rows = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 5, seed: 7 });
    const block = await blockOf(rows);
    const pieces = [block.head, block.names, block.queries, block.answers!];
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at++) {
        piece[at]! ^= 1 << (at & 7);
        expect(() => new BlockReader(block).check()).toThrow(DamagedBlock);
        piece[at]! ^= 1 << (at & 7);
      }
    }
    new BlockReader(block).check();
  });

  test('reads a block in the same way before and after its compression', async () => {
    for (const answers of [true, false]) {
      const open = new OpenBlock();
      const kept: StoredParts = { ipv4Bytes: 4, ipv6Bytes: 16, answers, clientIds: true };
      for (const row of fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 50, seed: 5 }))
        open.add(row, Math.round(row.timestampMs * 1000), kept);
      const raw = sealBlock(open);
      const [one, two] = [new BlockReader(raw), new BlockReader(await encodeBlock(raw))];
      one.check();
      expect(one.head).toEqual(two.head);
      expect(one.names()).toEqual(two.names());
      expect(one.times()).toEqual(two.times());
      const answersOf = (reader: BlockReader): unknown =>
        Array.from({ length: raw.rowCount }, (_, row) => reader.answers()?.recordsOf(row));
      expect(answersOf(one)).toEqual(answersOf(two));
    }
  });

  test('refuses a block that is truncated or contains columns of another block', async () => {
    const rows = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 3, seed: 3 });
    const block = await blockOf(rows);
    const wrong: EncodedBlock[] = [
      { ...block, head: block.head.subarray(1) },
      { ...block, names: block.names.subarray(0, -1) },
      { ...block, queries: Buffer.alloc(0) },
      { ...block, answers: null },
      { ...block, lengths: block.lengths.slice(1) },
      { ...block, lengths: block.lengths.map(() => -1) },
      { ...block, rowCount: 4 },
      { ...block, rowCount: 70_000 },
      { ...block, hourUs: block.hourUs + 1 },
      { ...block, lastUs: block.lastUs + 1 },
    ];
    for (const damaged of wrong) expect(() => new BlockReader(damaged).check()).toThrow(DamagedBlock);
  });

  test.each([
    ['with a newer format version', '{"format":3}', 'unknown format 3'],
    ['that is not JSON', '{', 'not JSON'],
    ['that is not an object', 'null', 'format undefined'],
    ['without its fields', '{"format":1}', 'head:'],
  ])('refuses a head %s even if its checksum is right', async (_, text, reason) => {
    const [row] = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 1, seed: 3 });
    const block = await blockOf([row!]);
    const head = zstdCompressSync(Buffer.from(text));
    const foreign: EncodedBlock = {
      ...block,
      head,
      lengths: [head.length, ...block.lengths.slice(1)],
      checksums: [crc32(head) | 0, ...block.checksums.slice(1)],
    };
    expect(() => new BlockReader(foreign)).toThrow(DamagedBlock);
    expect(() => new BlockReader(foreign)).toThrow(reason);
  });
});
