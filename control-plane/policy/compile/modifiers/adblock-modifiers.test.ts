import { describe, expect, test } from '@jest/globals';
import { type Modifiers, readModifiers } from './adblock-modifiers.ts';

function read(options: string): Modifiers {
  const modifiers = readModifiers(options);
  if (typeof modifiers === 'string') throw new Error(modifiers);
  return modifiers;
}

describe('readModifiers()', () => {
  test('returns only defaults for a rule without modifiers', () => {
    expect(readModifiers('')).toEqual({
      important: false,
      badfilter: false,
      rewrite: undefined,
      hasConditions: false,
      conditions: {},
      written: [],
    });
  });

  test('keeps all modifiers as written except $badfilter', () => {
    expect(read('important, badfilter ,dnstype=A')).toMatchObject({
      important: true,
      badfilter: true,
      written: ['important', 'dnstype=A'],
    });
  });

  test('does not treat a rewrite as a condition', () => {
    expect(read('dnsrewrite=NXDOMAIN').hasConditions).toBe(false);
    expect(read('dnsrewrite=NXDOMAIN,dnstype=A').hasConditions).toBe(true);
    expect(read('client=laptop').hasConditions).toBe(true);
  });

  test('separates included types from excluded ones', () => {
    expect(read('dnstype=a|~TYPE65|TYPE1').conditions).toEqual({ types: [1, 1], exceptTypes: [65] });
  });

  test.each([
    ['important=1', 'modifier is not supported: $important'],
    ['badfilter=', 'modifier is not supported: $badfilter'],
    ['', 'modifier is not supported: $'],
    [`${'x'.repeat(41)}=y`, `modifier is not supported: $${'x'.repeat(40)}`],
    ['dnstype', '$dnstype with an unknown type: '],
    ['dnstype=A|toString', '$dnstype with an unknown type: toString'],
    ['dnstype=TYPE123456', '$dnstype with an unknown type: TYPE123456'],
    ['denyallow', '$denyallow with a value that is not a domain name'],
    ['denyallow=a.example|b..example', '$denyallow with a value that is not a domain name'],
  ])('reports why "%s" cannot be used', (option, reason) => {
    expect(readModifiers(`dnstype=A,${option}`)).toBe(reason);
  });
});
