import { describe, expect, test } from '@jest/globals';
import {
  LAYOUT_VERSION,
  RULE_TABLE_MAGIC,
  RuleTableLayout as L,
  ruleTableBytes,
} from '../../shared/snapshot/layout.ts';
import { RuleTable } from '../../shared/snapshot/rule-table.ts';
import { type ListText, openLists, snapshotOf } from '../../test/support/parts/test-lists.ts';
import { isSameTable, openSnapshot } from './open-snapshot.ts';

const list = (text: string): ListText => ({ text, reading: { kind: 'block', subdomains: false } });
const filter = (pattern: string) => ({ id: 1, name: 'f', pattern, action: 'deny' as const, groupId: null });

describe('openSnapshot(), which opens a policy snapshot,', () => {
  test.each([
    ['nothing', '', [], false],
    ['rules for names', '||ads.example^\n/^ads[0-9]/\n', [filter('^track[0-9]')], false],
    ['an address', '192.0.2.1\n', [], true],
    ['a prefix', '192.0.2.0/24\n', [], true],
    ['an expression of a list for an address', '/^192\\.0\\.2\\.[0-9]+$/\n', [], true],
    ['an expression of a list that is open at an end', '/^192\\.0\\.2\\./\n', [], false],
    ['a regex filter', '', [filter('^192\\.0\\.2\\.[0-9]+$')], false],
  ])('reports whether answers must be checked for addresses: %s', (_, text, regexFilters, expected) => {
    expect(openLists([list(text)], { regexFilters }).checksAddresses).toBe(expected);
  });

  test('reopens the table of special rules only if it was rebuilt', () => {
    const buffers = snapshotOf([list('/^ads[0-9]/\n')], { regexFilters: [filter('^track[0-9]')] });
    const before = openSnapshot(buffers);
    const same = openSnapshot(buffers, before);
    expect(same.special).toBe(before.special);
    expect(same.manualSpecial).toBe(before.manualSpecial);
    const again = openSnapshot(snapshotOf([list('a.example\n/^ads[0-9]/\n')]), before);
    expect(again.special).not.toBe(before.special);
    expect(again.manualSpecial).not.toBe(before.manualSpecial);
  });
});

describe('isSameTable(), whether two snapshots contain the same name table,', () => {
  const tableOf = (build: number, nameCount: number): RuleTable => {
    const buffer = new SharedArrayBuffer(ruleTableBytes(1));
    const words = new Int32Array(buffer);
    words.set([RULE_TABLE_MAGIC, LAYOUT_VERSION]);
    words[L.BUCKET_COUNT_WORD] = 1;
    words[L.BUILD_WORD] = build;
    words[L.NAME_COUNT_WORD] = nameCount;
    return new RuleTable(buffer);
  };

  test('compares the build number and the number of names', () => {
    const others = [tableOf(1, 2), tableOf(2, 2), tableOf(1, 3)];
    expect(others.map((other) => isSameTable(tableOf(1, 2), other))).toEqual([true, false, false]);
  });
});
