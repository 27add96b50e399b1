import { describe, expect, test } from '@jest/globals';
import { parseUpstream, poolsOf, upstream } from './upstream-url.ts';
import { expectedInstead } from './value-checks.ts';

describe('parseUpstream()', () => {
  test.each([
    ['192.0.2.53', { transport: 'udp', host: '192.0.2.53', port: 53 }],
    ['192.0.2.53:5353', { transport: 'udp', host: '192.0.2.53', port: 5353 }],
    ['2001:db8::53', { transport: 'udp', host: '2001:db8::53', port: 53 }],
    ['[2001:db8::53]', { transport: 'udp', host: '2001:db8::53', port: 53 }],
    ['[2001:db8::53]:5353', { transport: 'udp', host: '2001:db8::53', port: 5353 }],
    ['udp://dns.example.org', { transport: 'udp', host: 'dns.example.org', port: 53 }],
    ['UDP://192.0.2.53:54', { transport: 'udp', host: '192.0.2.53', port: 54 }],
    ['tcp://[2001:db8::53]:54', { transport: 'tcp', host: '2001:db8::53', port: 54 }],
    ['tls://192.0.2.53', { transport: 'tls', host: '192.0.2.53', port: 853 }],
    [
      'tls://dns.example.org@192.0.2.53',
      { transport: 'tls', host: 'dns.example.org', port: 853, pinnedIp: '192.0.2.53' },
    ],
    [
      'tls://dns.example.org:8853@[2001:db8::53]',
      { transport: 'tls', host: 'dns.example.org', port: 8853, pinnedIp: '2001:db8::53' },
    ],
    [
      'tls://dns.example.org@192.0.2.53:8853',
      { transport: 'tls', host: 'dns.example.org', port: 8853, pinnedIp: '192.0.2.53' },
    ],
    [
      'tls://dns.example.org@[2001:db8::53]:8853',
      { transport: 'tls', host: 'dns.example.org', port: 8853, pinnedIp: '2001:db8::53' },
    ],
    [
      'https://dns.example.org@192.0.2.53:8443/q',
      { transport: 'https', host: 'dns.example.org', port: 8443, pinnedIp: '192.0.2.53', path: '/q' },
    ],
    ['udp://[fe80::1%eth0]:54', { transport: 'udp', host: 'fe80::1%eth0', port: 54 }],
    [
      'https://dns.example.org',
      { transport: 'https', host: 'dns.example.org', port: 443, path: '/dns-query' },
    ],
    [
      'https://dns.example.org:8443/q?x=1',
      { transport: 'https', host: 'dns.example.org', port: 8443, path: '/q?x=1' },
    ],
    [
      'https://dns.example.org@192.0.2.53/dns-query',
      { transport: 'https', host: 'dns.example.org', port: 443, pinnedIp: '192.0.2.53', path: '/dns-query' },
    ],
  ])('parses %s', (address, expected) => {
    expect(parseUpstream(address)).toEqual({ address, ...expected });
  });

  test.each([
    '',
    'dns.example.org',
    '192.0.2.256',
    'udp://192.0.2.256',
    '192.0.2.53:0',
    '192.0.2.53:65536',
    '192.0.2.53:',
    '192.0.2.53:53:53',
    '[192.0.2.53]:53',
    '[2001:db8::53',
    'udp://',
    'udp://192.0.2.53/path',
    'udp://dns.example.org@192.0.2.53',
    'tls://dns.example.org@nowhere',
    'tls://192.0.2.53@192.0.2.54',
    'tls://dns.example.org:853@192.0.2.53:853',
    'tls://dns.example.org@192.0.2.53:0',
    'tls://dns.example.org@other.example:853',
    'tls://a@192.0.2.53@192.0.2.54',
    'http://dns.example.org/dns-query',
    'quic://dns.example.org',
    'https://user:secret@dns.example.org/dns-query',
    'https://dns.example.org/dns-query#x',
    'https://dns_.-example.org/',
    'tls://a b.example',
    `udp://${'a'.repeat(64)}.example`,
  ])('refuses %j', (address) => {
    expect(parseUpstream(address)).toBeUndefined();
  });
});

test.each(['fe80::1', 'udp://[FE80::1]:53', 'tcp://[febf::1]', 'tls://dns.example.org@fe80::1'])(
  'parseUpstream() refuses %s because a link-local address needs a network interface',
  (address) => {
    expect(expectedInstead(upstream, address)).toMatch(/^a link-local address with its interface/);
  },
);

test('parseUpstream() accepts a link-local address with its network interface', () => {
  for (const address of ['fe80::1%eth0', 'udp://[fe80::1%eth0]:53', 'fec0::1'])
    expect(expectedInstead(upstream, address)).toBeUndefined();
});

describe('poolsOf()', () => {
  test('orders pools by priority and keeps the order of pools with equal priority', () => {
    const pool = (name: string, priority: number) =>
      ({ name, priority, strategy: 'Failover', servers: ['192.0.2.1', 'tcp://192.0.2.2'] }) as const;
    const pools = poolsOf([pool('c', 2), pool('a', 1), pool('b', 1)]);
    expect(pools.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(pools[0]?.servers.map(({ transport, host }) => `${transport} ${host}`)).toEqual([
      'udp 192.0.2.1',
      'tcp 192.0.2.2',
    ]);
  });
});
