import { describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { blockOf } from '../../../test/support/parts/blocks-of-rows.ts';
import { DamagedBlock } from './block-layout.ts';
import { BlockReader } from './block-reader.ts';
import { readHead } from './head.ts';

const block = await blockOf([logRow(), logRow()]);
const { repeats: _, ...head } = new BlockReader(block).head;
const bytesOf = (change: object): Buffer => Buffer.from(JSON.stringify({ ...head, ...change }));

describe('readHead()', () => {
  test('reads both versions of the format', () => {
    expect(readHead(bytesOf({}), block)).toEqual(head);
    const repeated = { format: 2, repeats: 3 };
    expect(readHead(bytesOf(repeated), { ...block, repeats: 3 })).toEqual({ ...head, ...repeated });
  });

  test('reads rules with the lists that contain them, and rules of users, which have no list', () => {
    const rules = [
      ['ads', '||', true, '^', [3, 17]],
      ['mine', 'ads.example', false, ''],
    ];
    expect(readHead(bytesOf({ rules }), block).rules).toEqual(rules);
  });

  test.each([
    ['with a later format version', { format: 3 }, 0],
    ['of format 1 with repeats', { repeats: 3 }, 3],
    ['of format 2 without repeats', { format: 2 }, 0],
    ['of format 2 with an empty list of repeats', { format: 2, repeats: 0 }, 0],
    ['with a negative number of repeats', { format: 2, repeats: -1 }, -1],
    ['with an incomplete repeat', { format: 2, repeats: 1.5 }, 1.5],
    ['with a different number of repeats than its database row', { format: 2, repeats: 3 }, 2],
    ['with fewer rows than its database row', { rows: 1 }, 0],
    ['with clients in another format', { clients: [['192.0.2.7', 1, 2]] }, 0],
    ['with a rule whose lists are not numbers', { rules: [['ads', '||', true, '^', ['3']]] }, 0],
    ['with a field that is not known', { more: 1 }, 0],
  ])('refuses a head %s', (_, change, repeats) => {
    expect(() => readHead(bytesOf(change), { ...block, repeats })).toThrow(DamagedBlock);
  });
});
