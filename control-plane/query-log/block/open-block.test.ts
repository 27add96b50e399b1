/** Which rows a block accepts, and which fields it omits. */
import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { addRow, blockOf, HOUR_MS, naiveRows } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { encodeBlock, sealBlock } from './block-encoder.ts';
import { BlockReader } from './block-reader.ts';
import { OpenBlock } from './open-block.ts';

describe('OpenBlock', () => {
  test('stores no answers, and only the first bytes of addresses, if the privacy level requires it', async () => {
    const rows = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 20, seed: 5 });
    const block = await blockOf(rows, { ipv4Bytes: 3, ipv6Bytes: 6, answers: false, clientIds: true });
    expect(block.answers).toBeNull();
    for (const { client, answers } of naiveRows(block)) {
      expect(answers).toBe('');
      expect(client).toMatch(/(\.0|::)$/);
    }
  });

  test('is full at 65,535 queries', async () => {
    const [row] = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 1, seed: 1 });
    const open = new OpenBlock();
    while (!open.isFull) addRow(open, { ...row!, responseTimeUs: open.rowCount });
    expect(open.rowCount).toBe(65_535);
    const reader = new BlockReader(await encodeBlock(sealBlock(open)));
    expect([...reader.responseTimes()]).toEqual(Array.from({ length: 65_535 }, (_, index) => index));
    expect(reader.names().counts).toEqual(Uint32Array.of(65_535));
  });

  test('accepts 65,535 different names, and is empty after clear()', async () => {
    const [row] = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 1, seed: 1 });
    const open = new OpenBlock();
    for (let n = 0; n < 65_535; n++) addRow(open, named(row!, `n${n}`));
    const names = naiveRows(await encodeBlock(sealBlock(open))).map(({ name }) => name);
    expect(names).toEqual(Array.from({ length: 65_535 }, (_, n) => `n${n}`));
    open.clear();
    addRow(open, named(row!, 'again'));
    expect(naiveRows(await encodeBlock(sealBlock(open))).map(({ name }) => name)).toEqual(['again']);
  });

  test('refuses a query of another hour', () => {
    const [row] = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 1, seed: 1 });
    const open = new OpenBlock();
    expect(open.accepts(0)).toBe(true);
    addRow(open, row!);
    expect(open.accepts(HOUR_MS * 1000)).toBe(true);
    expect(open.accepts(HOUR_MS * 1000 - 1)).toBe(false);
    expect(open.accepts(HOUR_MS * 1000 + 3_600_000_000)).toBe(false);
  });
});

function named(row: QueryLogRow, label: string): QueryLogRow {
  const bytes = Buffer.concat([
    row.bytes.subarray(0, row.client.length),
    Buffer.from([label.length]),
    Buffer.from(label),
    Buffer.from([0]),
  ]);
  const qname = { at: row.client.length, length: label.length + 2 };
  return { ...row, bytes, qname, rule: null, answers: { at: 0, length: 0 } };
}
