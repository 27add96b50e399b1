import { describe, expect, test } from '@jest/globals';
import { placeText, upstreamPlace } from './upstream-place.ts';

describe('upstreamPlace(), the name and address of an upstream,', () => {
  test.each([
    ['udp://192.0.2.1', { name: '192.0.2.1', ip: '192.0.2.1', port: 53 }],
    ['192.0.2.1:5353', { name: '192.0.2.1', ip: '192.0.2.1', port: 5353 }],
    ['tcp://[2001:db8::1]:54', { name: '2001:db8::1', ip: '2001:db8::1', port: 54 }],
    ['tls://dns.example.org@192.0.2.2', { name: 'dns.example.org', ip: '192.0.2.2', port: 853 }],
    ['https://dns.example.org/dns-query', { name: 'dns.example.org', ip: 'dns.example.org', port: 443 }],
    ['2001:db8::1', { name: '2001:db8::1', ip: '2001:db8::1', port: 53 }],
    ['', { name: '', ip: '', port: 53 }],
  ])('is right for %j', (text, expected) => {
    expect(upstreamPlace(text)).toEqual(expected);
  });

  test('placeText() returns the name used in the query log', () => {
    expect(placeText(upstreamPlace('tls://dns.example.org@192.0.2.2'))).toBe('192.0.2.2#853');
  });
});
