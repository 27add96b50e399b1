import { describe, expect, test } from '@jest/globals';
import { HOUR_MS, naiveRows } from '../../../test/support/parts/blocks-of-rows.ts';
import { encodeBlock } from '../block/block-encoder.ts';
import { type OldRow, OldRowPacker } from './old-rows.ts';

/** A row of an ordinary answer, changed as a test wants it. */
function oldRow(change: Partial<OldRow> = {}): OldRow {
  return {
    timestamp_us: HOUR_MS * 1000,
    node_id: 1,
    group_id: 1,
    response_time_us: 42,
    type: 1,
    rcode: 0,
    status: 1,
    protocol: 0,
    dnssec: 0,
    cached: true,
    client: '192.0.2.7',
    domain: 'www.example.org',
    block_source: null,
    block_rule: null,
    upstream: null,
    answers: null,
    ...change,
  };
}

describe('OldRowPacker', () => {
  test('pack() makes blocks of each node with their counts, and may be used again', async () => {
    const packer = new OldRowPacker();
    const unreadable: OldRow[] = [];
    const rows = [
      oldRow({ node_id: 2, type: -1, domain: '.', client: '2001:db8::1' }),
      oldRow({ status: 4, block_source: 'ads', block_rule: '||example.org^', answers: Buffer.of(1, 2) }),
      oldRow({ node_id: 2, status: 99, protocol: 9, dnssec: 9, upstream: 'udp://192.0.2.1:53' }),
      oldRow({ domain: 'a..b' }),
      oldRow({ client: 'nonsense' }),
    ];
    for (let round = 1; round <= 2; round++) {
      const blocks = packer.pack(rows, (row) => unreadable.push(row));
      expect(blocks.map(({ nodeId, minutes }) => [nodeId, minutes[0]!.queries, minutes[0]!.blocked])).toEqual(
        [
          [2, 2, 0],
          [1, 1, 1],
        ],
      );
      const [second, first] = await Promise.all(
        blocks.map(async ({ block }) => naiveRows(await encodeBlock(block))),
      );
      expect(second!.map(({ name, client, outcome }) => [name, client, ...outcome])).toEqual([
        ['.', '2001:db8::1', 65_535, 'CACHED', 0, 'udp', 'unchecked', true, null],
        ['www.example.org', '192.0.2.7', 1, 'ALLOWED', 0, 'udp', 'unchecked', true, 'udp://192.0.2.1:53'],
      ]);
      expect(first).toMatchObject([{ source: 'ads', rule: '||example.org^', answers: '0102' }]);
    }
    expect(unreadable).toEqual([rows[3], rows[4], rows[3], rows[4]]);
  });
});
