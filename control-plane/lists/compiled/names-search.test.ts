import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { namesPaths, NamesWriter } from '../../policy/compile/table/names-file.ts';
import { searchNames } from './names-search.ts';

let folder: string;
let stem: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-names-'));
  stem = join(folder, 'table');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(names: readonly string[]): string {
  const writer = new NamesWriter(stem);
  for (const name of names) writer.add(Buffer.from(name), 0, name.length, 0, RuleKind.BLOCK_EXACT);
  writer.finish();
  return namesPaths(stem).block;
}

describe('NamesWriter', () => {
  test('writes a name in lower case to each of the two files (block, allow) that does not contain it yet', async () => {
    const writer = new NamesWriter(stem);
    const name = Buffer.from('[A.Example]');
    writer.add(name, 1, 10, 0, RuleKind.BLOCK_EXACT);
    writer.add(name, 1, 10, RuleKind.BLOCK_EXACT, RuleKind.BLOCK_SUFFIX);
    writer.add(name, 1, 10, RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX, RuleKind.ALLOW_EXACT);
    writer.finish();
    const all = { from: 0, count: 10, search: '' };
    await expect(searchNames(namesPaths(stem).block, all)).resolves.toEqual({
      lines: ['a.example'],
      total: 1,
      isEstimate: false,
    });
    await expect(searchNames(namesPaths(stem).allow, all)).resolves.toEqual({
      lines: ['a.example'],
      total: 1,
      isEstimate: false,
    });
  });
});

describe('searchNames()', () => {
  const NAMES = Array.from(
    { length: 120_000 },
    (_, index) => `n${index}.${index % 3 === 0 ? 'ads' : 'shop'}.example`,
  );

  test('returns any page with the index', async () => {
    const path = write(NAMES);
    for (const from of [0, 1, 1023, 1024, 1025, 50_000, 119_998, 119_999, 120_000, 500_000]) {
      const found = await searchNames(path, { from, count: 3, search: '' });
      expect(found).toEqual({ lines: NAMES.slice(from, from + 3), total: NAMES.length, isEstimate: false });
    }
  });

  test.each(['ads', 'n1199', '.', 'n7.', 'example', 'nothing', 'n119999.ads', 'le'])(
    'finds the names that contain %j like a plain search, on every page',
    async (search) => {
      const path = write(NAMES);
      const expected = NAMES.filter((name) => name.includes(search));
      for (const from of [0, 7, 30_000]) {
        const found = await searchNames(path, { from, count: 5, search });
        expect(found).toEqual({
          lines: expected.slice(from, from + 5),
          total: expected.length,
          isEstimate: false,
        });
      }
    },
  );

  test('stops counting when the page is full, and then estimates the total', async () => {
    const names = Array.from(
      { length: 200_000 },
      (_, index) => `n${index}.${index % 2 === 0 ? 'shop' : 'example'}.test`,
    );
    const path = write(names);
    const found = await searchNames(path, { from: 3, count: 2, search: 'shop', countedBytes: 1_000_000 });
    expect(found.lines).toEqual(['n6.shop.test', 'n8.shop.test']);
    expect(found.isEstimate).toBe(true);
    expect(Math.abs(found.total - 100_000)).toBeLessThan(5000);
    const rare = await searchNames(path, { from: 0, count: 9, search: 'n199998.', countedBytes: 1 });
    expect(rare).toEqual({ lines: ['n199998.shop.test'], total: 1, isEstimate: false });
    const deep = await searchNames(path, { from: 99_999, count: 9, search: 'shop', countedBytes: 1 });
    expect(deep).toEqual({ lines: ['n199998.shop.test'], total: 100_000, isEstimate: false });
  });

  test('leaves out lines for which the callback of the caller returns false', async () => {
    const path = write(NAMES.slice(0, 10));
    const counts = (line: string): boolean => line.includes('shop');
    const expected = NAMES.slice(0, 10).filter(counts);
    for (const search of ['', 'n'])
      await expect(searchNames(path, { from: 1, count: 2, search, counts })).resolves.toEqual({
        lines: expected.slice(1, 3),
        total: expected.length,
        isEstimate: false,
      });
  });

  test('finds nothing in an empty file, and throws for a truncated or missing file', async () => {
    const all = { from: 0, count: 10, search: '' };
    await expect(searchNames(write([]), all)).resolves.toEqual({ lines: [], total: 0, isEstimate: false });
    const path = write(['a.example', 'b.example']);
    truncateSync(path, 30);
    await expect(searchNames(path, all)).rejects.toThrow(/incomplete/);
    await expect(searchNames(join(folder, 'none'), all)).rejects.toThrow(/ENOENT/);
  });
});
