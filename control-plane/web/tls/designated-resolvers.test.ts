import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import { certifiedAddresses, designatedResolvers } from './designated-resolvers.ts';

let authority: TestAuthority;
beforeAll(() => {
  authority = new TestAuthority();
});
afterAll(() => authority.close());

const hex = (records: readonly Uint8Array[]): string[] =>
  records.map((each) => Buffer.from(each).toString('hex'));
const certificate = (names: string): string => authority.issue(names).cert;
const TARGET = '03646e73' + '076578616d706c65' + '00';

describe('designatedResolvers(), the encrypted resolvers announced by DDR,', () => {
  test('are DNS over HTTPS, then DNS over TLS, at the name of the certificate (RFC 9461)', () => {
    const both = designatedResolvers(certificate('DNS:dns.example'), { dotPort: 853, dohPort: 443 });
    const path = Buffer.from('/dns-query{?dns}').toString('hex');
    expect(hex(both)).toEqual([
      '0001' + TARGET + '00010003' + '026832' + '00070010' + path,
      '0002' + TARGET + '00010004' + '03646f74',
    ]);
  });

  test('have port numbers if they differ from the default ports', () => {
    const [dot] = designatedResolvers(certificate('DNS:dns.example'), { dotPort: 8853, dohPort: null });
    expect(hex([dot!])).toEqual(['0001' + TARGET + '00010004' + '03646f74' + '00030002' + '2295']);
  });

  test.each([
    ['the first name of a host', 'DNS:localhost,DNS:*.example,DNS:dns.example,DNS:other.example', 1],
    ['no resolver if no name qualifies', 'DNS:localhost,IP:192.0.2.1', 0],
  ])('contain %s', (_what, names, count) => {
    const found = designatedResolvers(certificate(names), { dotPort: 853, dohPort: null });
    expect(found).toHaveLength(count);
    if (count > 0) expect(hex(found)[0]!.slice(4, 4 + TARGET.length)).toBe(TARGET);
  });
});

test('certifiedAddresses() returns the addresses in the certificate', () => {
  const names = 'DNS:dns.example,IP:192.0.2.53,IP:2001:db8::53';
  expect(certifiedAddresses(certificate(names)).map((each) => Buffer.from(each).toString('hex'))).toEqual([
    'c0000235',
    '20010db8000000000000000000000053',
  ]);
  expect(certifiedAddresses(certificate('DNS:dns.example'))).toEqual([]);
});
