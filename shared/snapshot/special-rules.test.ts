import { describe, expect, test } from '@jest/globals';
import { openLists, snapshotOf } from '../../test/support/parts/test-lists.ts';
import { LAYOUT_VERSION, SpecialRulesLayout as L } from './layout.ts';
import {
  checkSpecialRules,
  countSpecialRules,
  openSpecialRules,
  readSpecialRule,
  readSpecialRules,
} from './special-rules.ts';

const TEXT = ['||ads.example^$dnstype=A', '/^track[0-9]+\\./', '||ads-*.example^', '||plain.example^'].join(
  '\n',
);

function special(): SharedArrayBuffer {
  return snapshotOf([{ text: TEXT, reading: { kind: 'block', subdomains: false } }]).special;
}

describe('openSpecialRules(), the table of patterns and regexes,', () => {
  test.each([
    ['magic', L.MAGIC_WORD, 1],
    ['layout', L.VERSION_WORD, LAYOUT_VERSION - 1],
  ])('rejects a buffer with a different %s', (_, word, value) => {
    const buffer = special();
    new Int32Array(buffer)[word] = value;
    expect(() => openSpecialRules(buffer)).toThrow(
      'could not read special rules: they have a different layout',
    );
  });
});

describe('checkSpecialRules(), which verifies the table,', () => {
  test('accepts valid data, and rejects data with one changed bit', () => {
    const buffer = special();
    expect(() => checkSpecialRules(buffer)).not.toThrow();
    const words = new Int32Array(buffer);
    for (const at of [L.CHECKSUM_WORD, L.CHECKSUM_WORD + 1, words.length - 1]) {
      words[at] = words[at]! ^ 1;
      expect(() => checkSpecialRules(buffer)).toThrow('checksum is wrong');
      words[at] = words[at] ^ 1;
    }
    expect(() => checkSpecialRules(buffer)).not.toThrow();
  });
});

describe('countSpecialRules()', () => {
  test('counts all rules, and separately patterns and expressions', () => {
    expect(countSpecialRules(special())).toEqual({ rules: 3, textRules: 2 });
    expect(countSpecialRules(snapshotOf([]).special)).toEqual({ rules: 0, textRules: 0 });
  });
});

describe('readSpecialRule()', () => {
  test('returns each rule in the form of the list', () => {
    const rules = readSpecialRules(special());
    expect(rules.map(({ match, line, rule }) => [match, line, rule]).sort()).toEqual([
      ['pattern', 3, '||ads-*.example^'],
      ['regex', 2, '/^track[0-9]+\\./'],
      ['suffix', 1, '||ads.example^$dnstype=A'],
    ]);
    expect(rules.find(({ match }) => match === 'suffix')).toMatchObject({ text: 'ads.example', types: [1] });
  });

  test('returns undefined for an index before the first or after the last rule', () => {
    const buffer = special();
    expect([readSpecialRule(buffer, -1), readSpecialRule(buffer, 3)]).toEqual([undefined, undefined]);
    expect(readSpecialRule(buffer, 2)).toBeDefined();
  });

  test('returns the same rule as the table of a thread for the same index', () => {
    const { special: matcher } = openLists([{ text: TEXT, reading: { kind: 'block', subdomains: false } }]);
    expect([0, 1, 2].map((index) => matcher.rule(index))).toEqual(readSpecialRules(special()));
  });
});
