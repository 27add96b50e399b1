import { describe, expect, test } from '@jest/globals';
import { networkFromText } from '../../shared/net/cidr.ts';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import { forwardedClient } from './forwarded-client.ts';

const TRUSTED = ['192.0.2.0/24', '2001:db8::/64'].map((text) => networkFromText(text)!);

describe('forwardedClient(), the client of a request with X-Forwarded-For,', () => {
  test.each([
    ['the peer without the header', '192.0.2.1', undefined, '192.0.2.1'],
    ['the peer if it is not trusted', '203.0.113.1', '198.51.100.7', '203.0.113.1'],
    ['the client behind a trusted proxy', '192.0.2.1', '198.51.100.7', '198.51.100.7'],
    ['the client behind two of them', '192.0.2.1', '198.51.100.7, 2001:db8::5', '198.51.100.7'],
    [
      'the nearest that is not trusted, not what it says',
      '192.0.2.1',
      '10.0.0.1, 198.51.100.7',
      '198.51.100.7',
    ],
    ['a client in IPv6', '2001:db8::1', '2001:db8:1::9', '2001:db8:1::9'],
    ['the proxy if what follows is unreadable', '192.0.2.1', '198.51.100.7, unknown', '192.0.2.1'],
    ['the last proxy if all are trusted', '192.0.2.1', '192.0.2.3,192.0.2.2', '192.0.2.3'],
    ['a proxy if the header is too long', '192.0.2.1', '192.0.2.2,'.repeat(5000) + '192.0.2.2', '192.0.2.2'],
  ])('is %s', (_what, peer, header, expected) => {
    expect(addressToText(forwardedClient(addressFromText(peer)!, header, TRUSTED))).toBe(expected);
  });
});
