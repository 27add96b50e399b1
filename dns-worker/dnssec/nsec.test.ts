/** The answers of RFC 4035 appendix B, and statements that they do not prove. */
import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../shared/dns/iana.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { signedSets } from '../../test/support/dns/record-text.ts';
import { ZONE } from '../../test/support/dns/rfc4035-zone.ts';
import { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import type { Denial } from './proof.ts';

const ZONE_NAME = wireName('example');

function denial(...records: string[]): Denial {
  return denialOf(signedSets('', records.join('\n')), ZONE_NAME, new Budget(0))!;
}

describe('NsecDenial with the zone of RFC 4035', () => {
  const nsec = (...owners: string[]): Denial => denial(...owners.map((owner) => ZONE[`${owner} NSEC`]!));

  test('answers as in RFC 4035 B.2: ml.example does not exist', () => {
    const both = nsec('b.example', 'example');
    expect(both.nameError(wireName('ml.example'))).toBe('proven');
    expect(nsec('b.example').nameError(wireName('ml.example'))).toBe('unproven');
    expect(nsec('example').nameError(wireName('ml.example'))).toBe('unproven');
  });

  test('answers as in RFC 4035 B.3: ns1.example has no MX', () => {
    expect(nsec('ns1.example').noData(wireName('ns1.example'), RRType.MX)).toBe('proven');
    expect(nsec('ns1.example').noData(wireName('ns1.example'), RRType.A)).toBe('unproven');
  });

  test('answers as in RFC 4035 B.5: b.example is an unsigned delegation, so its data is not denied', () => {
    expect(nsec('b.example').delegation(wireName('b.example'))).toBe('unsigned');
    expect(nsec('b.example').noData(wireName('b.example'), RRType.DS)).toBe('proven');
    expect(nsec('b.example').noData(wireName('b.example'), RRType.MX)).toBe('unproven');
    expect(nsec('b.example', 'example').nameError(wireName('x.b.example'))).toBe('unproven');
  });

  test('answers as in RFC 4035 B.6: a.z.w.example is expanded from *.w.example', () => {
    const gap = nsec('x.y.w.example');
    expect(gap.wildcardAnswer(wireName('a.z.w.example'), 2)).toBe('proven');
    expect(gap.wildcardAnswer(wireName('a.z.w.example'), 1)).toBe('unproven');
    expect(gap.wildcardAnswer(wireName('a.x.w.example'), 2)).toBe('unproven');
  });

  test('answers as in RFC 4035 B.7: a.z.w.example has no AAAA, as *.w.example has none', () => {
    const both = nsec('x.y.w.example', '*.w.example');
    expect(both.noData(wireName('a.z.w.example'), RRType.AAAA)).toBe('proven');
    expect(both.noData(wireName('a.z.w.example'), RRType.MX)).toBe('unproven');
    expect(nsec('x.y.w.example').noData(wireName('a.z.w.example'), RRType.AAAA)).toBe('unproven');
  });

  test('answers as in RFC 4035 B.8: the NSEC of the apex does not deny its DS', () => {
    expect(nsec('example').noData(ZONE_NAME, RRType.DS)).toBe('unproven');
    expect(nsec('example').delegation(ZONE_NAME)).toBe('unproven');
  });

  test('proves that y.w.example is an empty non-terminal because x.y.w.example exists', () => {
    const gap = denial('x.w.example. 3600 NSEC x.y.w.example. MX RRSIG NSEC', ZONE['example NSEC']!);
    expect(gap.noData(wireName('y.w.example'), RRType.A)).toBe('proven');
    expect(gap.nameError(wireName('y.w.example'))).toBe('unproven');
    expect(gap.delegation(wireName('y.w.example'))).toBe('none');
  });

  test('accepts the last NSEC of a zone for all later names in the zone, and for none outside', () => {
    const last = denial('xx.example. 3600 NSEC example. A RRSIG NSEC', ZONE['example NSEC']!);
    expect(last.nameError(wireName('zz.example'))).toBe('proven');
    expect(last.nameError(wireName('zz.examplf'))).toBe('unproven');
  });

  test.each([
    ['a DNAME', 'DNAME RRSIG NSEC'],
    ['a delegation', 'NS RRSIG NSEC'],
  ])('ignores the NSEC at %s for names below it (RFC 6840 section 4.1)', (_what, types) => {
    const gap = denial(`d.example. 3600 NSEC e.example. ${types}`, ZONE['example NSEC']!);
    expect(gap.nameError(wireName('a.d.example'))).toBe('unproven');
    expect(gap.nameError(wireName('da.example'))).toBe('proven');
  });

  test('does not prove NODATA with an NSEC whose type bitmap contains CNAME', () => {
    expect(
      denial('c.example. 3600 NSEC d.example. CNAME RRSIG NSEC').noData(wireName('c.example'), RRType.A),
    ).toBe('unproven');
  });
});
