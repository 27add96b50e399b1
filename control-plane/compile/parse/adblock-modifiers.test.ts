import { describe, expect, test } from '@jest/globals';
import { type Modifiers, readModifiers } from './adblock-modifiers.ts';

function read(options: string): Modifiers {
  const modifiers = readModifiers(options);
  if (typeof modifiers === 'string') throw new Error(modifiers);
  return modifiers;
}

describe('readModifiers', () => {
  test('returns nothing but defaults for a rule without modifiers', () => {
    expect(readModifiers('')).toEqual({
      important: false,
      badfilter: false,
      rewrite: undefined,
      hasConditions: false,
      conditions: {},
      written: [],
    });
  });

  test('keeps all modifiers as written but $badfilter', () => {
    expect(read('important, badfilter ,dnstype=A')).toMatchObject({
      important: true,
      badfilter: true,
      written: ['important', 'dnstype=A'],
    });
  });

  test('counts a rewrite as no condition', () => {
    expect(read('dnsrewrite=NXDOMAIN').hasConditions).toBe(false);
    expect(read('dnsrewrite=NXDOMAIN,dnstype=A').hasConditions).toBe(true);
    expect(read('client=laptop').hasConditions).toBe(true);
  });

  test('tells the types a rule is for from those it is not for', () => {
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
    ['denyallow', '$denyallow with something that is no domain name'],
    ['denyallow=a.example|b..example', '$denyallow with something that is no domain name'],
    ['dnsrewrite', '$dnsrewrite to something that is no response code, address or host name'],
    ['dnsrewrite=SERVFAIL;;', '$dnsrewrite with an unknown response code: SERVFAIL'],
    ['dnsrewrite=NOERROR;A;2001:db8::7', '$dnsrewrite whose data does not fit its type'],
    ['dnsrewrite=NOERROR;AAAA;192.0.2.7', '$dnsrewrite whose data does not fit its type'],
    ['dnsrewrite=NOERROR;A;a.example', '$dnsrewrite whose data does not fit its type'],
  ])('says why "%s" cannot be used', (option, reason) => {
    expect(readModifiers(`dnstype=A,${option}`)).toBe(reason);
  });

  test.each([
    ['REFUSED', { rcode: 5, ipv4: [], ipv6: [] }],
    ['noerror', { rcode: 0, ipv4: [], ipv6: [] }],
    ['NOERROR;;', { rcode: 0, ipv4: [], ipv6: [] }],
    ['NXDOMAIN;A;192.0.2.7', { rcode: 3, ipv4: [], ipv6: [] }],
    ['192.0.2.7', { rcode: 0, ipv4: ['192.0.2.7'], ipv6: [] }],
    ['2001:db8::7', { rcode: 0, ipv4: [], ipv6: ['2001:db8::7'] }],
    ['Safe.Example.', { rcode: 0, ipv4: [], ipv6: [], host: 'safe.example' }],
    ['NOERROR;cname;safe.example', { rcode: 0, ipv4: [], ipv6: [], host: 'safe.example' }],
    ['NOERROR;TXT;a;b', { rcode: 0, ipv4: [], ipv6: [], txt: 'a;b' }],
  ])('reads $dnsrewrite=%s', (value, rewrite) => {
    expect(read(`dnsrewrite=${value}`).rewrite).toEqual(rewrite);
  });

  test('takes a host name of 253 characters and a final dot, and none that is longer or has one label', () => {
    const host = `${'a.'.repeat(123)}example`;
    expect(host).toHaveLength(253);
    expect(read(`dnsrewrite=${host}.`).rewrite?.host).toBe(host);
    for (const bad of [`a${host}.`, 'localhost', 'a..example', `${'a'.repeat(64)}.example`, 'a.example-'])
      expect(readModifiers(`dnsrewrite=${bad}`)).toMatch(/no response code, address or host name/);
  });
});
