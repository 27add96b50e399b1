import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { readAdblockRule } from './adblock-rule.ts';

const KIND_NAMES = new Map<number, string>(Object.entries(RuleKind).map(([name, bit]) => [bit, name]));

/** `KIND name` of a rule in the table of names, or the type of any other outcome. */
function nameOf(line: string, allow = false): string {
  const outcome = readAdblockRule(line, allow);
  return outcome.type === 'name' ? `${KIND_NAMES.get(outcome.kind)} ${outcome.name}` : outcome.type;
}

/** Reason why a line is not a rule; undefined if it is one. */
function reasonOf(line: string): string | undefined {
  const outcome = readAdblockRule(line, false);
  return outcome.type === 'unused' ? outcome.unused.reason : undefined;
}

describe('readAdblockRule()', () => {
  test.each([
    ['||a.example^', 'BLOCK_SUFFIX a.example', 'ALLOW_SUFFIX a.example'],
    ['|a.example^', 'BLOCK_EXACT a.example', 'ALLOW_EXACT a.example'],
    ['||*.a.example^', 'BLOCK_BELOW a.example', 'ALLOW_BELOW a.example'],
    ['||a.example^$important', 'IMPORTANT_BLOCK_SUFFIX a.example', 'IMPORTANT_ALLOW_SUFFIX a.example'],
  ])(
    'turns %s of an allowlist, or as an exception, into an allow rule for the same names',
    (line, block, allow) => {
      expect([nameOf(line), nameOf(line, true), nameOf(`@@${line}`)]).toEqual([block, allow, allow]);
    },
  );

  test('stores an important rule as a plain name only if it applies to the name and all its subdomains', () => {
    expect(readAdblockRule('|a.example^$important', false)).toEqual({
      type: 'special',
      rule: {
        kind: RuleKind.IMPORTANT_BLOCK_SUFFIX,
        match: 'exact',
        text: 'a.example',
        rule: '|a.example^$important',
      },
    });
  });

  test.each([
    ['||192.0.2.7^', 'BLOCK_EXACT 192.0.2.7'],
    ['||2001:DB8:0::7^', 'BLOCK_EXACT 2001:db8::7'],
    ['|http://a.example|', 'BLOCK_EXACT a.example'],
    ['||Bücher.example^', 'BLOCK_SUFFIX xn--bcher-kva.example'],
    ['||a.example.^', 'BLOCK_SUFFIX a.example'],
    [`||${'a'.repeat(63)}.example^`, `BLOCK_SUFFIX ${'a'.repeat(63)}.example`],
  ])('reads the name of %s', (line, rule) => {
    expect(nameOf(line)).toBe(rule);
  });

  test.each([
    ['', 'not a rule'],
    ['@@', 'not a rule'],
    ['$important', 'pattern too short: it would match almost everything'],
    ['a rule of prose', 'not a rule'],
    ['//', 'URL or path: a DNS server sees only names'],
    ['||a.example/path', 'URL or path: a DNS server sees only names'],
    ['||a.example:8080^', 'URL or path: a DNS server sees only names'],
    ['/a/b/', 'regular expression for whole URLs'],
    ['a.example#@#.ad', 'cosmetic rule'],
    ['||a.123^', 'not a domain name'],
    ['||1.2.3.4.5^', 'not a domain name'],
    ['||bü|cher.example^', 'not a domain name'],
    [`||${'a'.repeat(1023)}^`, 'not a domain name'],
    ['||a.example^$badfilter,popup', 'modifier is not supported: $popup'],
  ])('reports why "%s" is unusable', (line, reason) => {
    expect(reasonOf(line)).toBe(reason);
  });

  test('reads a name of 253 characters and refuses a name of 254 characters', () => {
    const name = 'a.'.repeat(126) + 'a';
    expect(nameOf(`||${name}^`)).toBe(`BLOCK_SUFFIX ${name}`);
    expect(reasonOf(`||b${name}^`)).toBe('not a domain name');
  });

  test('ends a regular expression at its last slash, and reads the modifiers after it', () => {
    expect(readAdblockRule('/^ads$[0-9]$/$dnstype=A,important', false)).toEqual({
      type: 'special',
      rule: {
        kind: RuleKind.IMPORTANT_BLOCK_SUFFIX,
        match: 'regex',
        text: '^ads$[0-9]$',
        rule: '/^ads$[0-9]$/$dnstype=A,important',
        types: [1],
      },
    });
  });

  test('sorts the modifiers in the text of the rule that a $badfilter rule disables', () => {
    const texts = ['important,dnstype=A', 'dnstype=A,badfilter,important'].map((options) => {
      const outcome = readAdblockRule(`||a.example^$${options}`, false);
      if (outcome.type === 'special') return outcome.rule.rule;
      return outcome.type === 'badfilter' ? outcome.badFilter.rule : undefined;
    });
    expect(texts).toEqual(['||a.example^$dnstype=A,important', '||a.example^$dnstype=A,important']);
  });

  test('returns the name of the rule that $badfilter disables only if the rule is a plain name', () => {
    const badFilter = (line: string): unknown => {
      const outcome = readAdblockRule(line, false);
      return outcome.type === 'badfilter' && [outcome.badFilter.name, KIND_NAMES.get(outcome.badFilter.kind)];
    };
    expect(badFilter('|a.example^$badfilter')).toEqual(['a.example', 'BLOCK_EXACT']);
    expect(badFilter('||a*b.example^$badfilter')).toEqual([null, 'BLOCK_SUFFIX']);
    expect(badFilter('||a.example^$badfilter,client=tv')).toEqual([null, 'BLOCK_SUFFIX']);
  });
});
