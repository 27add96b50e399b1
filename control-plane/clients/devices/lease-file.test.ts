/** Lease files as DHCP servers write them. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { readLeases } from './lease-file.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 6);
const SOON_SECS = NOW_MS / 1000 + 60;

describe('readLeases() of dnsmasq', () => {
  test('reads addresses, MACs and names', () => {
    const text = [
      `${SOON_SECS} 02:00:5E:10:00:01 192.0.2.7 Phone 01:02:00:5e:10:00:01`,
      `0 02:00:5e:10:00:02 192.0.2.8 tv *`,
      `${SOON_SECS} 06-02:00:5e:10:00:03 192.0.2.9 token-ring *`,
      'duid 00:01:00:01:2a:2b:2c:2d:02:00:5e:10:00:01',
      `${SOON_SECS} 1234567 2001:DB8::7 phone 00:01:00:01:2a`,
    ].join('\n');
    expect(readLeases(text, NOW_MS)).toEqual([
      { address: '192.0.2.7', mac: '02:00:5e:10:00:01', hostname: 'phone' },
      { address: '192.0.2.8', mac: '02:00:5e:10:00:02', hostname: 'tv' },
      { address: '192.0.2.9', mac: '02:00:5e:10:00:03', hostname: 'token-ring' },
      { address: '2001:db8::7', mac: null, hostname: 'phone' },
    ]);
  });

  test.each([
    ['without a name', `${SOON_SECS} 02:00:5e:10:00:01 192.0.2.7 * *`],
    ['that has expired', `${NOW_MS / 1000} 02:00:5e:10:00:01 192.0.2.7 phone *`],
    ['without an address', `${SOON_SECS} 02:00:5e:10:00:01 192.0.2 phone *`],
    ['on a truncated line', `${SOON_SECS} 02:00:5e:10`],
    ['with an invalid name', `${SOON_SECS} 02:00:5e:10:00:01 192.0.2.7 <b>phone</b> *`],
    ['in another format', '02:00:5e:10:00:01 192.0.2.7 phone'],
  ])('leaves out a lease %s', (_what, line) => expect(readLeases(line, NOW_MS)).toEqual([]));
});

describe('readLeases() of ISC dhcpd', () => {
  const block = (address: string, lines: string): string => `lease ${address} {\n${lines}\n}\n`;

  test('reads active leases, and only the last lease of an address', () => {
    const text = `# The format of this file is documented in the dhcpd.leases(5) manual page.
authoring-byte-order little-endian;
server-duid "\\000\\001";
${block('192.0.2.7', '  ends 6 2026/11/21 07:00:00;\n  binding state active;\n  hardware ethernet 02:00:5e:10:00:01;\n  client-hostname "old";')}
${block('192.0.2.7', '  ends 6 2026/11/21 08:00:00;\n  binding state active;\n  next binding state free;\n  hardware ethernet 02:00:5e:10:00:01;\n  uid "\\001\\002";\n  client-hostname "Phone";')}
${block('192.0.2.8', '  ends never;\n  binding state active;\n  hardware ethernet 02:00:5e:10:00:02;\n  client-hostname "tv";')}
${block('192.0.2.9', '  ends epoch 1795248000; # later\n  binding state active;\n  hardware ethernet 02:00:5e:10:00:03;\n  client-hostname "radio";')}
ia-na "\\001\\000" {
  cltt 6 2026/11/21 05:00:00;
  iaaddr 2001:db8::7 {
    binding state active;
    ends 6 2026/11/21 08:00:00;
    set ddns-fwd-name = "phone.home.arpa";
  }
}`;
    expect(readLeases(text, NOW_MS)).toEqual([
      { address: '192.0.2.7', mac: '02:00:5e:10:00:01', hostname: 'phone' },
      { address: '192.0.2.8', mac: '02:00:5e:10:00:02', hostname: 'tv' },
      { address: '192.0.2.9', mac: '02:00:5e:10:00:03', hostname: 'radio' },
      { address: '2001:db8::7', mac: null, hostname: 'phone.home.arpa' },
    ]);
  });

  test.each([
    ['freed', '  binding state free;\n  client-hostname "phone";'],
    ['expired', '  ends 6 2026/11/21 05:59:59;\n  binding state active;\n  client-hostname "phone";'],
    ['nameless', '  ends never;\n  binding state active;'],
  ])('leaves out an address whose last lease is %s', (_what, last) => {
    const first = block('192.0.2.7', '  ends never;\n  binding state active;\n  client-hostname "phone";');
    expect(readLeases(first + block('192.0.2.7', last), NOW_MS)).toEqual([]);
  });
});

test('readLeases() never throws, for generated files', () => {
  const piece = fc.constantFrom(
    'lease ',
    '192.0.2.7',
    ' {',
    '}\n',
    'ends ',
    '"',
    ';',
    '\n',
    'ia-na x',
    '0 ',
    'never',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (parts) => {
      for (const lease of readLeases(parts.join(''), NOW_MS)) expect(lease.hostname).not.toBe('');
    }),
  );
});
