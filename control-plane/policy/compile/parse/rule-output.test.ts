import { beforeEach, describe, expect, test } from '@jest/globals';
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { networkOf } from './address-trigger.ts';
import type { BadFilter, SpecialLine } from './adblock-rule.ts';
import { invalidLine } from './foreign-line.ts';
import type { UnusedLine } from './list-statistics.ts';
import { newScannedName } from './name-scan.ts';
import { NO_SPACE, RuleOutput } from './rule-output.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, BLOCK_BELOW } = RuleKind;
const NO_USE = invalidLine(lineReason('cosmetic'));

let found: string[];
let refusal: UnusedLine | null;
let hasRoom: boolean;
let output: RuleOutput;

beforeEach(() => {
  found = [];
  refusal = null;
  hasRoom = true;
  output = new RuleOutput(
    (bytes, start, end, kind, line) => {
      found.push(`${line} ${kind} ${Buffer.from(bytes.subarray(start, end)).toString('latin1')}`);
    },
    {
      special(rule, line) {
        if (refusal === null) found.push(`${line} ${rule.kind} ${rule.rule}`);
        return refusal;
      },
      badFilter({ rule }) {
        if (hasRoom) found.push(rule);
        return hasRoom;
      },
    },
  );
  output.lineNumber = 7;
});

function special(match: SpecialLine['match'], fields: Partial<SpecialLine> = {}): SpecialLine {
  return { kind: BLOCK_SUFFIX, match, text: 'a.example', rule: 'a rule', ...fields };
}

describe('RuleOutput', () => {
  test('text() outputs a name with its line number, and counts a rule that covers other names as a wildcard', () => {
    for (const kind of [BLOCK_EXACT, BLOCK_SUFFIX, BLOCK_BELOW])
      expect(output.text('a.example.', kind, 'dnsmasq', newScannedName())).toBeNull();
    expect(found).toEqual(['7 1 a.example', '7 2 a.example', '7 64 a.example']);
    expect(output).toMatchObject({ rules: 3, wildcardRules: 2, addressRules: 0 });
    expect(output.forms).toMatchObject({ dnsmasq: 3, adblock: 0 });
  });

  test.each(['', 'a..example', 'a.example/x', 'example.123'])('text() refuses "%s"', (text) => {
    expect(output.text(text, BLOCK_EXACT, 'rpz', newScannedName())).toMatchObject({
      reason: 'not a domain name',
    });
    expect([found, output.rules, output.forms.rpz]).toEqual([[], 0, 0]);
  });

  test('text() outputs an address in the notation of RFC 5952', () => {
    expect(output.text('2001:DB8:0::7', BLOCK_EXACT, 'domains', newScannedName())).toBeNull();
    expect(found).toEqual(['7 1 2001:db8::7']);
    expect(output).toMatchObject({ rules: 1, addressRules: 1, wildcardRules: 0 });
  });

  test.each(['0.0.0.0', '127.0.0.1', '::', '::1'])('address() creates no rule for %s', (text) => {
    expect(output.address(text, BLOCK_EXACT, 'domains')).toMatchObject({ invalid: false });
    expect([found, output.rules, output.addressRules]).toEqual([[], 0, 0]);
  });

  test('network() outputs a prefix length except for a single address, and refuses a network of all addresses', () => {
    const network = (text: string): UnusedLine | null =>
      output.network(networkOf(text)!, BLOCK_EXACT, 'domains');
    expect(network('192.0.2.0/24')).toBeNull();
    expect(network('2001:db8::/1')).toBeNull();
    expect(network('192.0.2.7/32')).toBeNull();
    expect(network('0.0.0.0/0')).toMatchObject({ reason: 'a rule for every address is not accepted' });
    expect(found).toEqual(['7 1 192.0.2.0/24', '7 1 ::/1', '7 1 192.0.2.7']);
    expect(output).toMatchObject({ rules: 3, addressRules: 3 });
    expect(
      output.prefixes.words.reduce((sum, word) => sum + word.toString(2).replaceAll('0', '').length, 0),
    ).toBe(2);
  });

  test('special() does not count a rule that the callback refuses', () => {
    refusal = NO_USE;
    expect(output.special(special('regex', { clientNames: ['tv'] }), 'adblock')).toBe(NO_USE);
    expect(output).toMatchObject({ rules: 0, wildcardRules: 0, textRules: 0 });
    expect([output.clientNames.size, output.forms.adblock]).toEqual([0, 0]);
  });

  test('special() counts rules for several names as wildcards, and patterns and regular expressions as text rules', () => {
    for (const match of ['exact', 'suffix', 'below', 'pattern', 'regex'] as const)
      expect(output.special(special(match), 'adblock')).toBeNull();
    expect(output).toMatchObject({ rules: 5, wildcardRules: 4, textRules: 2 });
  });

  test('special() accepts a thousand client names per list, included and excluded names together', () => {
    const names = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, index) => `c${from + index}`);
    const ask = (fields: Partial<SpecialLine>): UnusedLine | null =>
      output.special(special('suffix', fields), 'adblock');
    expect(ask({ clientNames: names(0, 500), exceptClientNames: names(500, 999) })).toBeNull();
    expect(ask({ clientNames: ['x'], exceptClientNames: ['y'] })).toMatchObject({
      reason: '$client with more than 1000 names in one list',
    });
    expect(ask({ exceptClientNames: ['x'] })).toBeNull();
    expect(ask({})).toBeNull();
    expect([output.clientNames.size, output.rules]).toEqual([1000, 3]);
  });

  test('badFilter() reports that its memory limit is reached', () => {
    const badFilter: BadFilter = { rule: '||a.example^', name: 'a.example', kind: BLOCK_SUFFIX };
    expect(output.badFilter(badFilter)).toBeNull();
    hasRoom = false;
    expect(output.badFilter(badFilter)).toBe(NO_SPACE);
    expect([found, output.rules, output.forms.adblock]).toEqual([['||a.example^'], 1, 1]);
  });
});
