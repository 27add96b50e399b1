import { describe, expect, test } from '@jest/globals';
import { addressFromText } from '../../../shared/net/ip.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { ALL, blockOf } from '../../../test/support/parts/blocks-of-rows.ts';
import { BlockReader } from './block-reader.ts';
import { ClientDictionary } from './client-dictionary.ts';
import { mergeBlocks } from './merge-blocks.ts';
import { viewed } from './viewed-bytes.ts';

const ADDRESS = addressFromText('192.0.2.7')!;

describe('ClientDictionary', () => {
  test('place() distinguishes clients at the same address by group and by client ID', () => {
    const clients = new ClientDictionary();
    const place = (groupId: number, clientId: number): number => {
      const row = logRow({ client: ADDRESS, groupId, clientId });
      return clients.place(row, viewed(row.bytes), ALL);
    };
    const asked = [
      [1, 0],
      [1, 9],
      [2, 9],
      [1, 8],
      [1, 9],
    ] as const;
    expect(asked.map(([groupId, clientId]) => place(groupId, clientId))).toEqual([0, 1, 2, 3, 1]);
    expect(clients.placeOf({ address: ADDRESS, groupId: 2, clientId: 9 })).toBe(2);
    const reported = [0, 1, 2, 3].map((at) => [
      clients.addressOf(at),
      clients.groupOf(at),
      clients.clientIdOf(at),
    ]);
    expect(reported).toEqual([
      ['192.0.2.7', 1, 0],
      ['192.0.2.7', 1, 9],
      ['192.0.2.7', 2, 9],
      ['192.0.2.7', 1, 8],
    ]);
    clients.clear();
    expect([clients.size, place(1, 8), clients.clientIdOf(0)]).toEqual([0, 0, 8]);
  });

  test('place() stores no client ID if the log is anonymous', async () => {
    const anonymous = { ipv4Bytes: 3, ipv6Bytes: 6, answers: true, clientIds: false };
    const rows = [0, 9, 8].map((clientId) => logRow({ clientId }));
    const reader = new BlockReader(await blockOf(rows, anonymous));
    expect(reader.head.clients).toEqual([['192.0.2.0', 1, 3, 0]]);
  });

  test('keeps client IDs when blocks are merged', async () => {
    const blocks = [
      await blockOf([logRow({ clientId: 9 })]),
      await blockOf([logRow({ clientId: 8 }), logRow()]),
    ];
    expect(new BlockReader(await mergeBlocks(blocks)).head.clients).toEqual([
      ['192.0.2.7', 1, 1, 0, 9],
      ['192.0.2.7', 1, 1, 0, 8],
      ['192.0.2.7', 1, 1, 0],
    ]);
  });
});
