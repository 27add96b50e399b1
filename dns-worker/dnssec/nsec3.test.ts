/** The answers of RFC 5155 appendix B, and statements that they do not prove. */
import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../shared/dns/iana.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { signedSets } from '../../test/support/dns/record-text.ts';
import { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import { nsec3Hash } from './nsec3.ts';
import type { Denial } from './proof.ts';

const ZONE_NAME = wireName('example');

function denial(...records: string[]): Denial {
  return denialOf(signedSets('', records.join('\n')), ZONE_NAME, new Budget(0))!;
}

describe('Nsec3Denial with the zone of RFC 5155', () => {
  const CHAIN: Readonly<Record<string, string>> = {
    '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom': '2t7b4g4vsa5smi47k61mv5bv1a22bojr MX DNSKEY NS SOA NSEC3PARAM RRSIG',
    '2t7b4g4vsa5smi47k61mv5bv1a22bojr': '2vptu5timamqttgl4luu9kg21e0aor3s A RRSIG',
    '2vptu5timamqttgl4luu9kg21e0aor3s': '35mthgpgcu1qg68fab165klnsnk3dpvl MX RRSIG',
    '35mthgpgcu1qg68fab165klnsnk3dpvl': 'b4um86eghhds6nea196smvmlo4ors995 NS DS RRSIG',
    b4um86eghhds6nea196smvmlo4ors995: 'gjeqe526plbf1g8mklp59enfd789njgi MX RRSIG',
    gjeqe526plbf1g8mklp59enfd789njgi: 'ji6neoaepv8b5o6k4ev33abha8ht9fgc A HINFO AAAA RRSIG',
    ji6neoaepv8b5o6k4ev33abha8ht9fgc: 'k8udemvp1j2f7eg6jebps17vp3n8i58h',
    k8udemvp1j2f7eg6jebps17vp3n8i58h: 'kohar7mbb8dc2ce8a9qvl8hon4k53uhi',
    kohar7mbb8dc2ce8a9qvl8hon4k53uhi: 'q04jkcevqvmu85r014c7dkba38o0ji5r A RRSIG',
    q04jkcevqvmu85r014c7dkba38o0ji5r: 'r53bq7cc2uvmubfu5ocmm6pers9tk9en A RRSIG',
    r53bq7cc2uvmubfu5ocmm6pers9tk9en: 't644ebqk9bibcna874givr6joj62mlhv MX RRSIG',
    t644ebqk9bibcna874givr6joj62mlhv: '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom A HINFO AAAA RRSIG',
  };

  /** The records whose hashes start with these texts; `flags` 1 = opt-out, as in the RFC. */
  const nsec3 = (flags: 0 | 1, ...starts: string[]): Denial =>
    denial(
      ...starts.map((start) => {
        const hash = Object.keys(CHAIN).find((it) => it.startsWith(start))!;
        return `${hash}.example. 3600 NSEC3 1 ${String(flags)} 12 aabbccdd ${CHAIN[hash]!}`;
      }),
    );

  test.each([
    ['example', '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom'],
    ['a.example', '35mthgpgcu1qg68fab165klnsnk3dpvl'],
    ['ai.example', 'gjeqe526plbf1g8mklp59enfd789njgi'],
    ['ns1.example', '2t7b4g4vsa5smi47k61mv5bv1a22bojr'],
    ['ns2.example', 'q04jkcevqvmu85r014c7dkba38o0ji5r'],
    ['w.example', 'k8udemvp1j2f7eg6jebps17vp3n8i58h'],
    ['*.w.example', 'r53bq7cc2uvmubfu5ocmm6pers9tk9en'],
    ['x.w.example', 'b4um86eghhds6nea196smvmlo4ors995'],
    ['y.w.example', 'ji6neoaepv8b5o6k4ev33abha8ht9fgc'],
    ['x.y.w.example', '2vptu5timamqttgl4luu9kg21e0aor3s'],
    ['xx.example', 't644ebqk9bibcna874givr6joj62mlhv'],
    ['2t7b4g4vsa5smi47k61mv5bv1a22bojr.example', 'kohar7mbb8dc2ce8a9qvl8hon4k53uhi'],
  ])('nsec3Hash(%s) is %s (appendix A)', (name, expected) => {
    const hash = nsec3Hash(wireName(name), Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd), 12);
    const bits = [...hash].map((octet) => octet.toString(2).padStart(8, '0')).join('');
    const text = bits
      .match(/.{5}/g)!
      .map((digit) => parseInt(digit, 2).toString(32))
      .join('');
    expect(text).toBe(expected);
  });

  test('answers as in RFC 5155 B.1: a.c.x.w.example does not exist', () => {
    const name = wireName('a.c.x.w.example');
    expect(nsec3(0, '0p9m', 'b4um', '35mt').nameError(name)).toBe('proven');
    expect(nsec3(1, '0p9m', 'b4um', '35mt').nameError(name)).toBe('insecure');
    expect(nsec3(0, 'b4um', '35mt').nameError(name)).toBe('unproven');
    expect(nsec3(0, '0p9m', '35mt').nameError(name)).toBe('unproven');
    expect(nsec3(0, '0p9m', 'b4um').nameError(name)).toBe('unproven');
  });

  test('answers as in RFC 5155 B.2: ns1.example has no MX', () => {
    expect(nsec3(1, '2t7b').noData(wireName('ns1.example'), RRType.MX)).toBe('proven');
    expect(nsec3(1, '2t7b').noData(wireName('ns1.example'), RRType.A)).toBe('unproven');
  });

  test('answers as in RFC 5155 B.2.1: y.w.example is an empty non-terminal', () => {
    expect(nsec3(1, 'ji6n').noData(wireName('y.w.example'), RRType.A)).toBe('proven');
  });

  test('answers as in RFC 5155 B.3: c.example may be an unsigned delegation, as opt-out allows one', () => {
    expect(nsec3(1, '35mt', '0p9m').delegation(wireName('c.example'))).toBe('unsigned');
    expect(nsec3(1, '35mt', '0p9m').noData(wireName('c.example'), RRType.DS)).toBe('insecure');
    expect(nsec3(0, '35mt', '0p9m').delegation(wireName('c.example'))).toBe('nothing-below');
    expect(nsec3(1, '35mt').delegation(wireName('c.example'))).toBe('unproven');
  });

  test('answers as in RFC 5155 B.4: a.z.w.example is expanded from *.w.example', () => {
    expect(nsec3(0, 'q04j').wildcardAnswer(wireName('a.z.w.example'), 2)).toBe('proven');
    expect(nsec3(1, 'q04j').wildcardAnswer(wireName('a.z.w.example'), 2)).toBe('insecure');
    expect(nsec3(0, '0p9m').wildcardAnswer(wireName('a.z.w.example'), 2)).toBe('unproven');
  });

  test('answers as in RFC 5155 B.5: a.z.w.example has no AAAA, as *.w.example has none', () => {
    const name = wireName('a.z.w.example');
    expect(nsec3(0, 'k8ud', 'q04j', 'r53b').noData(name, RRType.AAAA)).toBe('proven');
    expect(nsec3(0, 'k8ud', 'q04j', 'r53b').noData(name, RRType.MX)).toBe('unproven');
    expect(nsec3(0, 'k8ud', 'q04j').noData(name, RRType.AAAA)).toBe('unproven');
  });

  test('answers as in RFC 5155 B.6: the NSEC3 of the apex does not deny its DS', () => {
    expect(nsec3(1, '0p9m').noData(ZONE_NAME, RRType.DS)).toBe('unproven');
  });

  test('does not accept a delegation as the closest encloser', () => {
    expect(nsec3(0, '35mt', 'q04j', '0p9m').nameError(wireName('x.a.example'))).toBe('unproven');
  });

  test('treats a zone with 51 iterations as insecure, and evaluates 50 iterations (RFC 9276, CVE-2023-50868)', () => {
    const hash = '2t7b4g4vsa5smi47k61mv5bv1a22bojr';
    const of = (iterations: number): Denial =>
      denial(`${hash}.example. 3600 NSEC3 1 0 ${String(iterations)} aabbccdd ${CHAIN[hash]!}`);
    expect(of(51).nameError(wireName('q.example'))).toBe('insecure');
    expect(of(51).delegation(wireName('q.example'))).toBe('unsigned');
    expect(of(50).nameError(wireName('q.example'))).toBe('unproven');
  });

  test('computes at most 64 hashes per query, whatever answers arrive (CVE-2023-50868)', () => {
    const budget = new Budget(0);
    const sets = signedSets(
      '',
      `0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example. 3600 NSEC3 1 0 50 - ${CHAIN['0p9mhaveqvm6t7vbl5lop2u3t2rp3tom']!}`,
    );
    const deep = wireName(`${'a.'.repeat(100)}example`);
    expect(denialOf(sets, ZONE_NAME, budget)!.nameError(deep)).toBe('unproven');
    expect(budget.isSpent).toBe(true);
  });

  test('ignores records with other hash algorithms, flags or parameters', () => {
    const own = `2t7b4g4vsa5smi47k61mv5bv1a22bojr.example. 3600 NSEC3 1 0 12 aabbccdd 2vptu5timamqttgl4luu9kg21e0aor3s A`;
    const first = `0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example. 3600 NSEC3 1 0 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr A`;
    const name = wireName('ns1.example');
    expect(denial(first, own).noData(name, RRType.MX)).toBe('proven');
    for (const [from, to] of [
      ['1 0 12', '2 0 12'],
      ['1 0 12', '1 2 12'],
      ['1 0 12', '1 0 11'],
      ['aabb', 'aabc'],
    ])
      expect(denial(first, own.replace(from!, to!)).noData(name, RRType.MX)).toBe('unproven');
  });
});
