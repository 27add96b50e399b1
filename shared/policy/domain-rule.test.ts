import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { nameFromText } from '../dns/name.ts';
import { canonicalDomain, canonicalDomainRule } from './domain-rule.ts';

describe('canonicalDomain(), the canonical form of a domain name,', () => {
  test.each([
    ['Example.ORG.', 'example.org'],
    ['faß.example', 'xn--fa-hia.example'],
    ['日本。example', 'xn--wgv71a.example'],
    ['_sip._tcp.example', '_sip._tcp.example'],
    ['localhost', 'localhost'],
    ['1.example', '1.example'],
  ])('normalizes %j to %j', (written, kept) => expect(canonicalDomain(written)).toBe(kept));

  test.each(['', '.', 'a..b', '192.0.2.1', '1', '0x7f', 'a b', 'a/b', 'ü/b', 'a-', '-a', 'ü@x', '\u0000'])(
    'rejects %j',
    (written) => expect(canonicalDomain(written)).toBeNull(),
  );

  test('never throws, and returns only canonical names', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.domain()), (written) => {
        const domain = canonicalDomain(written);
        if (domain === null) return;
        expect(canonicalDomain(domain)).toBe(domain);
        expect(nameFromText(domain)).not.toBeNull();
      }),
    );
  });
});

describe('canonicalDomainRule(), the canonical form of a domain rule,', () => {
  test.each([
    ['*.Example.org', '*.example.org'],
    ['*.*.example', null],
    ['*.', null],
    ['*', null],
    ['a*.example', null],
  ])('normalizes %j to %j', (written, kept) => expect(canonicalDomainRule(written)).toBe(kept));
});
