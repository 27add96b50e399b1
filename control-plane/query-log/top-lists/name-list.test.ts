import { describe, expect, test } from '@jest/globals';
import { crc32 } from 'node:zlib';
import fc from '../../../test/support/parts/fast-check.ts';
import { KeyTable } from './key-table.ts';
import { DamagedList, encodeList, NameList } from './name-list.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\\', '0', 'z'), minLength: 1, maxLength: 12 });
const count = fc.oneof(
  fc.nat(3),
  fc.maxSafeNat().map((n) => Math.floor(n / 8)),
);
const entry = fc.tuple(text, fc.constantFrom(1, 2, 0x7fff_ffff), fc.tuple(count, count, count));

function tableOf(
  entries: readonly (readonly [string, number, readonly number[]])[],
  max = 200_000,
): KeyTable {
  const table = new KeyTable(max);
  for (const [key, group, [resolved, blocked, other]] of entries) {
    const bytes = Buffer.from(key, 'latin1');
    const place = table.place(bytes, 0, bytes.length, group);
    table.resolved[place] = resolved!;
    table.blocked[place] = blocked!;
    table.other[place] = other!;
  }
  return table;
}

/** Entries in the order of their texts. */
function inWords(table: KeyTable): unknown[] {
  return Array.from({ length: table.size }, (_, place) => [
    table.text(place),
    table.tags[place],
    [table.resolved[place], table.blocked[place], table.other[place], table.unseen - table.known[place]!],
  ]).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const GROUPS = new Set([1, 2, 0x7fff_ffff]);

describe('NameList', () => {
  test('decodes every entry, and the maximum count of removed keys', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 200 }),
        fc.integer({ min: 1, max: 300 }),
        async (list, max) => {
          const table = tableOf(list);
          table.keepLargest(max, 1 << 20);
          const read = new KeyTable();
          const stored = new NameList(await encodeList(table, GROUPS));
          stored.addTo(read);
          expect([...stored.groups]).toEqual([...GROUPS]);
          expect([read.size, read.unseen, read.sketch?.size]).toEqual([
            table.size,
            table.unseen,
            table.sketch?.size,
          ]);
          expect(inWords(read)).toEqual(inWords(table));
        },
      ),
    );
  });

  test('addSumTo() adds the sums of all groups, or the counts of one group', async () => {
    const list = new NameList(
      await encodeList(
        tableOf([
          ['a.example', 1, [1, 2, 3]],
          ['a.example', 2, [10, 20, 30]],
          ['b.example', 2, [5, 0, 0]],
        ]),
        new Set([1, 2, 3]),
      ),
    );
    const sums = (group?: number): unknown[] => {
      const table = new KeyTable();
      list.addSumTo(table, group);
      return inWords(table);
    };
    expect(sums()).toEqual([
      ['a.example', 0, [11, 22, 33, 0]],
      ['b.example', 0, [5, 0, 0, 0]],
    ]);
    expect(sums(1)).toEqual([['a.example', 0, [1, 2, 3, 0]]]);
    expect(sums(3)).toEqual([]);
    expect(sums(9)).toEqual([]);
  });

  test('addSumTo() adds the maximum count of removed keys once for each requested group', async () => {
    const table = tableOf([['a.example', 1, [9, 0, 0]]]);
    table.addUnseen(4, null);
    const list = new NameList(await encodeList(table, new Set([1, 2])));
    const unseen = (group?: number): number => {
      const sum = new KeyTable();
      list.addSumTo(sum, group);
      return sum.unseen;
    };
    expect([unseen(), unseen(1), unseen(2), unseen(3)]).toEqual([8, 4, 4, 0]);
  });

  test('needs fewer bytes than its texts', async () => {
    const names = Array.from({ length: 2000 }, (_, i) => [`host${i}.example.org`, 1, [i, 0, 1]] as const);
    const table = tableOf(names);
    const { bytes } = await encodeList(table, GROUPS);
    expect(bytes.length).toBeLessThan(table.starts[table.size]! / 2);
  });

  test('refuses a list with a changed byte, and throws no other error if the checksum is valid', async () => {
    const { bytes, checksum } = await encodeList(tableOf([['a.example', 1, [1, 2, 3]]]), GROUPS);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0x10;
      expect(() => new NameList({ bytes: changed, checksum })).toThrow(DamagedList);
      // The checksum is valid, so the bytes may be a valid list; if they are not, no other error may be thrown.
      try {
        new NameList({ bytes: changed, checksum: crc32(changed) | 0 });
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedList);
      }
    }
  });
});
