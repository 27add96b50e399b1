import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../dns/name.ts';
import { addressFromText } from '../net/ip.ts';
import { readLocalRecordLine, readLocalValue, reverseName } from './local-record.ts';

describe('readLocalRecordLine, which parses a local record,', () => {
  test.each([
    ['nas.home.arpa A 192.0.2.5', 'nas.home.arpa', 'A', '192.0.2.5', 300],
    ['NAS.home.arpa.  60  IN  aaaa 2001:DB8::5', 'nas.home.arpa', 'AAAA', '2001:db8::5', 60],
    ['*.lab.example.org CNAME Host.example.org.', '*.lab.example.org', 'CNAME', 'host.example.org', 300],
    [
      '2001:db8::1 PTR a.example.org',
      `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`,
      'PTR',
      'a.example.org',
      300,
    ],
    ['a.example.org TXT two words', 'a.example.org', 'TXT', 'two words', 300],
  ])('accepts %s', (line, fqdn, type, value, ttlSecs) => {
    expect(readLocalRecordLine(line)).toEqual({ fqdn, type, value, ttlSecs });
  });

  test.each([
    ['', 'a record such as'],
    ['nas.example.org', 'a record such as'],
    ['nas.example.org NS ns.example.org', 'a record such as'],
    ['na..s A 192.0.2.5', 'starts with a domain name, not "na..s"'],
    ['nas.example.org A 192.0.2.500', 'an IPv4 address as the value of A'],
    ['nas.example.org 604801 A 192.0.2.5', 'a TTL of at most 604800 seconds'],
  ])('reports the expected format for "%s"', (line, expected) => {
    expect(readLocalRecordLine(line)).toEqual(expect.stringContaining(expected));
  });
});

describe('readLocalValue, which parses the value of a local record,', () => {
  test.each([
    ['MX', ' 300  Mail.example. ', '300 mail.example', [1, 44], 'mail.example'],
    ['SRV', '0 5 5060 sip.example', '0 5 5060 sip.example', [0, 0, 0, 5, 0x13, 0xc4], 'sip.example'],
    ['PTR', 'a.example', 'a.example', [], 'a.example'],
  ] as const)('encodes the numbers of %s before the name', (type, text, value, numbers, name) => {
    const read = readLocalValue(type, text);
    expect(read).toEqual({ ok: true, value, rdata: Uint8Array.from([...numbers, ...nameFromText(name)!]) });
  });

  test.each([
    ['MX', 'mail.example'],
    ['MX', '10 20 mail.example'],
    ['MX', '65536 mail.example'],
    ['MX', '-1 mail.example'],
    ['SRV', '0 5 sip.example'],
    ['CNAME', '*.a.example'],
    ['CNAME', ''],
    ['A', '2001:db8::1'],
    ['AAAA', '192.0.2.1'],
    ['AAAA', 'fe80::1%eth0'],
    ['TXT', ''],
  ] as const)('rejects a %s record with "%s"', (type, text) => {
    expect(readLocalValue(type, text).ok).toBe(false);
  });

  const strings = (value: string): string[] => {
    const read = readLocalValue('TXT', value);
    const found: string[] = [];
    if (!read.ok) return found;
    for (let at = 0; at < read.rdata.length; at += read.rdata[at]! + 1)
      found.push(Buffer.from(read.rdata.subarray(at + 1, at + 1 + read.rdata[at]!)).toString());
    return found;
  };

  test('splits a long text into strings of 255 bytes, and keeps quoted strings unchanged', () => {
    expect(strings('x'.repeat(600)).map(({ length }) => length)).toEqual([255, 255, 90]);
    expect(strings('"one" "two \\"2\\""')).toEqual(['one', 'two "2"']);
    expect(strings('say "hello"')).toEqual(['say "hello"']);
    expect(strings(`"${'x'.repeat(256)}"`)).toEqual([]);
    expect(strings('x'.repeat(8192))).toEqual([]);
  });
});

test('reverseName returns the reverse name of an IPv4 and an IPv6 address', () => {
  expect(reverseName(addressFromText('192.0.2.1')!)).toBe('1.2.0.192.in-addr.arpa');
  expect(reverseName(addressFromText('2001:db8::ab')!)).toBe(
    `b.a.${'0.'.repeat(22)}8.b.d.0.1.0.0.2.ip6.arpa`,
  );
});
