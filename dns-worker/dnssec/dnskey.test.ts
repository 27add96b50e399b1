import { describe, expect, test } from '@jest/globals';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { readRecords } from '../../test/support/dns/record-text.ts';
import { digestMatches, Dnskey, readDs, usableDs } from './dnskey.ts';

/** The examples of RFC 4034 section 5.4 and RFC 4509 section 2.3. */
const KEY =
  'dskey.example.com. 86400 DNSKEY 256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==';
const SHA1 = '60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118';
const SHA256 = '60485 5 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A';

const dsOf = (fields: string): NonNullable<ReturnType<typeof readDs>> =>
  readDs(readRecords(`dskey.example.com. 86400 DS ${fields}`)[0]!.rdata)!;
const keyOf = (text: string): Dnskey => Dnskey.read(readRecords(text)[0]!.rdata)!;

describe('Dnskey, a DNSKEY record,', () => {
  test('computes the key tag as in RFC 4034 section 5.4', () => {
    expect(keyOf(KEY).tag).toBe(60485);
  });

  test.each([
    ['256 3', true],
    ['257 3', true],
    ['0 3', false],
    ['385 3', false],
    ['257 2', false],
  ])('with flags and protocol %s may sign a zone: %s', (fields, expected) => {
    expect(keyOf(KEY.replace('256 3', fields)).isZoneKey).toBe(expected);
  });

  test.each([
    ['an RSA exponent of 6 bytes', 8, [6, 1, 0, 0, 0, 0, 1, ...Array<number>(128).fill(0xff)]],
    ['an even RSA exponent', 8, [1, 2, ...Array<number>(128).fill(0xff)]],
    ['an RSA modulus of 504 bits', 8, [1, 3, ...Array<number>(63).fill(0xff)]],
    ['an RSA modulus of 4104 bits', 8, [1, 3, ...Array<number>(513).fill(0xff)]],
    ['a cut-off RSA exponent', 8, [200, 3, 5]],
    ['a point that is not on P-256', 13, Array<number>(64).fill(1)],
    ['an Ed25519 key of 31 bytes', 15, Array<number>(31).fill(1)],
    ['an unknown algorithm', 99, [1, 2, 3]],
  ])('rejects %s', (_what, algorithm, octets) => {
    expect(Dnskey.read(Uint8Array.from([1, 1, 3, algorithm, ...octets]))!.verifyInput).toBeNull();
  });
});

describe('digestMatches()', () => {
  test.each([SHA1, SHA256])('accepts the published DS %s only for its zone', (fields) => {
    const zone = wireName('DSKEY.example.com');
    expect(digestMatches(dsOf(fields), zone, keyOf(KEY))).toBe(true);
    expect(digestMatches(dsOf(fields), wireName('example.com'), keyOf(KEY))).toBe(false);
  });
});

describe('usableDs(), the DS records used for validation,', () => {
  const digest = 'AA'.repeat(32);
  const kinds = (all: string[]): string[] =>
    usableDs(all.map(dsOf)).map((ds) => `${String(ds.algorithm)} ${String(ds.digestType)}`);

  test('ignores SHA-1 digests if there is a better digest (RFC 4509 section 3)', () => {
    expect(kinds([`1 13 1 ${digest}`, `1 13 2 ${digest}`, `1 13 4 ${digest}`])).toEqual(['13 2', '13 4']);
    expect(kinds([`1 13 1 ${digest}`])).toEqual(['13 1']);
  });

  test('keeps SHA-1 digests if the better digests are unusable', () => {
    expect(kinds([`1 13 1 ${digest}`, `1 13 3 ${digest}`, `1 5 2 ${digest}`, `1 200 2 ${digest}`])).toEqual([
      '13 1',
    ]);
  });

  test('returns nothing for unknown digest types and algorithms, including RSASHA1', () => {
    expect(kinds([`1 13 3 ${digest}`, `1 5 2 ${digest}`, `1 7 2 ${digest}`, `1 12 2 ${digest}`])).toEqual([]);
  });
});
