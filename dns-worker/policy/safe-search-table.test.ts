import { describe, expect, test } from '@jest/globals';
import { hashName, nameFromText } from '../../shared/dns/name.ts';
import { SafeSearchMode, type SafeTarget } from '../../shared/snapshot/safe-search-modes.ts';
import { NOT_FOUND } from './name-table.ts';
import { SafeSearchTable } from './safe-search-table.ts';

const [SEED_LOW, SEED_HIGH] = [5, -6];
const { moderate, strict } = SafeSearchMode;

const targetTo = (name: string): SafeTarget => ({ cname: nameFromText(name), ipv4: null });

/** Engine `id` with its names. */
function engine(id: string, ...names: string[]) {
  return {
    id,
    names: names.map((name) => nameFromText(name)!),
    moderate: targetTo(`moderate.${id}.test`),
    strict: targetTo(`strict.${id}.test`),
  };
}

describe('SafeSearchTable of search engines and groups', () => {
  const table = new SafeSearchTable(
    {
      engines: [
        engine('one', 'one.test', 'www.one.test'),
        engine('two', 'two.test'),
        engine('three', 'three.test'),
      ],
      groups: [
        { id: 1, mask: strict },
        { id: 7, mask: moderate | (moderate << 2) | (strict << 4) },
      ],
    },
    [1, 4, 7],
    SEED_LOW,
    SEED_HIGH,
  );

  /** Engine and mode that the group at an index enforces for a name. */
  function found(groupIndex: number, name: string): string | null {
    const hash = { low: 0, high: 0 };
    hashName(nameFromText(name)!, 0, SEED_LOW, SEED_HIGH, hash);
    const number = table.find(groupIndex, hash.low, hash.high);
    if (number === NOT_FOUND) return null;
    expect(table.target(number).cname).toEqual(
      nameFromText(table.describe(number).replace(/(.*) \((.*)\)/, '$2.$1.test')),
    );
    return table.describe(number);
  }

  test('returns the safe search mode of each group for each engine', () => {
    expect(['one.test', 'www.one.test', 'two.test', 'three.test'].map((name) => found(0, name))).toEqual([
      'one (strict)',
      'one (strict)',
      null,
      null,
    ]);
    expect(['one.test', 'two.test', 'three.test'].map((name) => found(2, name))).toEqual([
      'one (moderate)',
      'two (moderate)',
      'three (strict)',
    ]);
  });

  test('returns nothing for a group without safe search, and for other names', () => {
    expect([found(1, 'one.test'), found(0, 'x.one.test'), found(0, 'test')]).toEqual([null, null, null]);
  });

  test('stores 16 engines, and ignores further engines', () => {
    const engines = Array.from({ length: 17 }, (_, at) => engine(`e${at}`, `e${at}.test`));
    const full = new SafeSearchTable({ engines, groups: [{ id: 1, mask: 0xaaaaaaaa | 0 }] }, [1], 1, 2);
    const hash = { low: 0, high: 0 };
    const numbers = engines.map(({ names: [name] }) => {
      hashName(name!, 0, 1, 2, hash);
      return full.find(0, hash.low, hash.high);
    });
    expect(numbers).toEqual([...Array.from({ length: 16 }, (_, at) => at * 2 + 1), NOT_FOUND]);
  });
});
