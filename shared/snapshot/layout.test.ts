import { describe, expect, test } from '@jest/globals';
import {
  AutomatonLayout,
  CLIENT_TABLE_MAGIC,
  LOCAL_NAMES_MAGIC,
  POLICY_TABLE_MAGIC,
  PolicyTableLayout,
  RULE_TABLE_MAGIC,
  RuleTableLayout,
  SPECIAL_RULES_MAGIC,
  SpecialRulesLayout,
  checksumWords,
  ruleTableBytes,
} from './layout.ts';

/** Words of a header by the constants that end in `_WORD`. */
function headerWords(layout: Readonly<Record<string, number>>): number[] {
  return Object.entries(layout).flatMap(([name, word]) => (name.endsWith('_WORD') ? [word] : []));
}

describe('the magic words of shared memory', () => {
  test('identify the content in the first bytes of a file', () => {
    const magics = [
      RULE_TABLE_MAGIC,
      POLICY_TABLE_MAGIC,
      SPECIAL_RULES_MAGIC,
      LOCAL_NAMES_MAGIC,
      CLIENT_TABLE_MAGIC,
    ];
    const spelled = magics.map((magic) => Buffer.from(Uint32Array.of(magic).buffer).toString('latin1'));
    expect(spelled).toEqual(['WRUL', 'WPOL', 'WSPC', 'WLOC', 'WCLI']);
  });
});

describe('RuleTableLayout, the layout of the rule table,', () => {
  test('has one cache line per bucket, with separate columns', () => {
    const { BUCKET_WORDS, BUCKET_SHIFT, NAMES_PER_BUCKET, LOW_AT, HIGH_AT, ATTRIBUTE_AT, OVERFLOW_AT } =
      RuleTableLayout;
    expect(BUCKET_WORDS * 4).toBe(64);
    expect(1 << BUCKET_SHIFT).toBe(BUCKET_WORDS);
    expect([HIGH_AT - LOW_AT, ATTRIBUTE_AT - HIGH_AT, OVERFLOW_AT - ATTRIBUTE_AT]).toEqual(
      Array.from({ length: 3 }, () => NAMES_PER_BUCKET),
    );
    expect(OVERFLOW_AT).toBeLessThan(BUCKET_WORDS);
  });
});

describe('the headers of shared memory layouts', () => {
  test.each([
    ['RuleTableLayout', RuleTableLayout],
    ['SpecialRulesLayout', SpecialRulesLayout],
    ['PolicyTableLayout', PolicyTableLayout],
  ])('of %s have each word once, and space for all words', (_, layout) => {
    const words = headerWords(layout);
    expect(new Set(words).size).toBe(words.length);
    expect(Math.max(...words)).toBeLessThan(layout.HEADER_WORDS);
  });

  test('of a policy table have space for addresses between their words', () => {
    const { CUSTOM_IPV4_BYTE, CUSTOM_IPV6_BYTE } = PolicyTableLayout;
    const addresses = Array.from({ length: 20 }, (_, byte) => (CUSTOM_IPV4_BYTE + byte) >>> 2);
    expect(CUSTOM_IPV6_BYTE).toBe(CUSTOM_IPV4_BYTE + 4);
    expect(headerWords(PolicyTableLayout).filter((word) => addresses.includes(word))).toEqual([]);
  });

  test('of an automaton have a class for each byte', () => {
    expect(AutomatonLayout.CLASS_MAP_WORDS * 4).toBe(256);
  });
});

describe('ruleTableBytes()', () => {
  test('is the size of the header plus 64 bytes per bucket', () => {
    expect(ruleTableBytes(0)).toBe(64);
    expect(ruleTableBytes(1000)).toBe(64 + 64_000);
  });
});

describe('checksumWords(), the checksum from a given word on,', () => {
  const words = Uint32Array.from({ length: 40 }, (_, at) => at * 0x01000193);

  test('changes with every bit from the given word on, and with no word before it', () => {
    const sum = checksumWords(words, 8);
    for (const at of words.keys())
      for (const bit of [0, 15, 31]) {
        const changed = words.slice();
        changed[at] = changed[at]! ^ (1 << bit);
        expect({ at, bit, isSame: checksumWords(changed, 8) === sum }).toEqual({ at, bit, isSame: at < 8 });
      }
  });

  test('changes with the order of the words', () => {
    expect(checksumWords(words.slice().reverse(), 0)).not.toBe(checksumWords(words, 0));
  });

  test('is an unsigned 32-bit integer', () => {
    for (let from = 0; from < words.length; from++) {
      expect(checksumWords(words, from)).toBeGreaterThanOrEqual(0);
      expect(checksumWords(words, from)).toBeLessThanOrEqual(0xffff_ffff);
    }
  });
});
