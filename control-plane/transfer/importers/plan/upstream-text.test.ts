import { describe, expect, test } from '@jest/globals';
import { readUpstream } from './upstream-text.ts';

/** A stamp of these bytes. */
const stamp = (protocol: number, ...fields: string[]): string => {
  const parts = fields.flatMap((field) => [field.length, ...Buffer.from(field)]);
  return `sdns://${Buffer.from([protocol, 0, 0, 0, 0, 0, 0, 0, 0, ...parts]).toString('base64url')}`;
};

describe('readUpstream()', () => {
  test.each([
    ['192.0.2.53', '192.0.2.53'],
    ['192.0.2.53#5353', '192.0.2.53:5353'],
    ['2001:db8::53#5353', '[2001:db8::53]:5353'],
    ['tls://dns.example.org', 'tls://dns.example.org'],
    ['https://dns.example.org/dns-query', 'https://dns.example.org/dns-query'],
    ['h3://dns.example.org/dns-query', 'https://dns.example.org/dns-query'],
    ['tcp://192.0.2.53:53', 'tcp://192.0.2.53:53'],
    ['tls://dns.example.org@192.0.2.53:8853', 'tls://dns.example.org@192.0.2.53:8853'],
    ['https://dns.example.org@192.0.2.53/q', 'https://dns.example.org@192.0.2.53/q'],
    [stamp(0, '192.0.2.53:5353'), '192.0.2.53:5353'],
    [stamp(2, '192.0.2.53', '', 'dns.example.org', '/q'), 'https://dns.example.org@192.0.2.53/q'],
    [stamp(3, '[2001:db8::1]', 'pin', 'dns.example.org'), 'tls://dns.example.org@[2001:db8::1]'],
  ])('reads %s', (written, server) => {
    expect(readUpstream(written)).toMatchObject({ server });
  });

  test.each([
    'quic://dns.example.org',
    'fe80::1',
    'https://user:s3cret@dns.example.org/dns-query',
    'https://s3cret@192.0.2.53/dns-query',
    'sdns://AQ',
    'sdns://',
    'ftp://a',
    '',
    '192.0.2.53#x',
    stamp(2, 'a').slice(0, 18),
  ])('returns a reason instead of a server for %j', (written) => {
    expect(readUpstream(written)).toMatchObject({ server: null, reason: expect.any(String) });
  });

  test('warns about servers on this machine', () => {
    for (const written of ['127.0.0.1#5335', '::1', 'tcp://localhost'])
      expect(readUpstream(written)).toMatchObject({ remark: expect.stringContaining('this machine') });
  });
});
