import { describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { blockOf } from '../../../test/support/parts/blocks-of-rows.ts';
import { BlockTally } from './block-tally.ts';
import { BlockReader } from '../block/block-reader.ts';
import { clientText, readClientText } from './client-text.ts';

/** Two clients with an id and one without, all at the same address; one of them is in two groups. */
const ROWS = [0, 9, 9, 8, 0, 9].map((clientId, index) => logRow({ clientId, groupId: index < 5 ? 1 : 2 }));

describe('clientText()', () => {
  test.each([
    [['192.0.2.7', 1, 5, 0], '192.0.2.7', { address: '192.0.2.7', clientId: null }],
    [['2001:db8::7', 1, 5, 0, 42], '2001:db8::7 42', { address: '2001:db8::7', clientId: 42 }],
  ] as const)('of %j is %j', (client, text, read) => {
    expect([clientText(client), readClientText(text)]).toEqual([text, read]);
  });

  test('distinguishes clients at the same address in blocks and in their counts', async () => {
    const reader = new BlockReader(await blockOf(ROWS));
    expect(reader.head.clients).toEqual([
      ['192.0.2.7', 1, 2, 0],
      ['192.0.2.7', 1, 2, 0, 9],
      ['192.0.2.7', 1, 1, 0, 8],
      ['192.0.2.7', 2, 1, 0, 9],
    ]);
    const tally = new BlockTally();
    await tally.addBlock(reader, () => Promise.resolve());
    expect([tally.queries, tally.clients.size]).toEqual([6, 4]);
  });
});
