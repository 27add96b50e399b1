/** Lines with rules for addresses in answers: rpz-ip records, bogus-nxdomain entries and networks. */
import { describe, expect, test } from '@jest/globals';
import { parseLines } from '../../../../test/support/parts/parsed-lines.ts';

describe('LineRules', () => {
  test.each([
    ['32.1.2.0.192.rpz-ip CNAME .', '192.0.2.1'],
    ['24.0.2.0.192.rpz-ip CNAME *.', '192.0.2.0/24'],
    ['24.0.2.0.192.rpz-ip.zone.example. 60 IN CNAME rpz-drop.', '192.0.2.0/24'],
    ['8.0.0.0.10.RPZ-IP\tIN\tA\t0.0.0.0', '10.0.0.0/8'],
    ['1.0.218.230.rpz-ip CNAME .', '1.0.218.230'],
    ['48.zz.db8.2001.rpz-ip CNAME .', '2001:db8::/48'],
    ['128.57.zz.102.db8.2001.rpz-ip CNAME .', '2001:db8:102::57'],
    ['64.0.0.0.0.3.2.db8.2001.rpz-ip CNAME .', '2001:db8:2:3::/64'],
    ['1.zz.db8.2001.rpz-ip CNAME .', '2001:db8::1'],
    ['2001.db8.zz.1.rpz-ip CNAME .', '2001:db8::1'],
    ['bogus-nxdomain=192.0.2.1', '192.0.2.1'],
    ['bogus-nxdomain=192.0.2.77/25 # a search page', '192.0.2.0/25'],
    ['bogus-nxdomain=2001:db8::1', '2001:db8::1'],
    ['bogus-nxdomain=2001:DB8::/32', '2001:db8::/32'],
    ['198.51.100.0/22', '198.51.100.0/22'],
    ['2001:db8:1::/48 # a network', '2001:db8:1::/48'],
  ])('creates a rule for addresses in answers from %s', (line, address) => {
    const parsed = parseLines(`${line}\n`);
    expect(parsed.names).toEqual([`BLOCK_EXACT ${address}`]);
    expect(parsed).toMatchObject({ rules: 1, addressRules: 1, invalidLines: 0, skippedLines: 0 });
  });

  test.each([
    '24.1.2.0.192.rpz-ip',
    '33.1.2.0.192.rpz-ip',
    '5.rpz-ip',
    'x.rpz-ip',
    '64.zz.zz.rpz-ip',
    '2.0.192.rpz-ip',
  ])('refuses the trigger %s, which is not a network', (owner) => {
    const { names, invalidSamples } = parseLines(`${owner} CNAME .\nexample.net\n`);
    expect(names).toEqual(['BLOCK_EXACT example.net']);
    expect(invalidSamples[0]?.reason).toBe('neither an address nor a prefix in the form of rpz-ip records');
  });

  test('creates exceptions from rpz-passthru and from allowlists', () => {
    expect(parseLines('24.0.2.0.192.rpz-ip CNAME rpz-passthru.\n').names).toEqual([
      'ALLOW_EXACT 192.0.2.0/24',
    ]);
    const allow = { kind: 'allow', subdomains: false } as const;
    expect(parseLines('bogus-nxdomain=192.0.2.0/24\n', allow).names).toEqual(['ALLOW_EXACT 192.0.2.0/24']);
  });

  test.each([
    ['as rpz-ip records, as they are published', (address: string) => `${address}.rpz-ip CNAME .`],
    ['as bogus-nxdomain entries', (address: string) => `bogus-nxdomain=${address}`],
  ])('accepts all 58,575 addresses of a list, %s', (_how, line) => {
    const addresses = Array.from(
      { length: 58_575 },
      (_, index) => `${1 + (index % 223)}.${(index * 7) % 256}.${index >>> 8}.${index % 256}`,
    );
    const parsed = parseLines(
      `$TTL 300\n@ SOA a. b. 1 2 3 4 5\n  NS  a.\n;\n${addresses.map(line).join('\n')}\n`,
    );
    expect(parsed).toMatchObject({ fault: null, rules: 58_575, invalidLines: 0, skippedLines: 0 });
    expect(parsed.names).toEqual(addresses.map((address) => `BLOCK_EXACT ${address}`));
  });
});
