import { expect, test } from '@jest/globals';
import { appleProfile } from './apple-profile.ts';

const HTTPS = { protocol: 'https', url: 'https://dns.example.org:8443/dns-query/anna' } as const;

test('appleProfile() configures DNS over HTTPS or DNS over TLS', () => {
  expect(appleProfile(HTTPS, 'Anna')).toContain(
    '<key>DNSSettings</key><dict><key>DNSProtocol</key><string>HTTPS</string>' +
      '<key>ServerURL</key><string>https://dns.example.org:8443/dns-query/anna</string></dict>',
  );
  expect(appleProfile({ protocol: 'tls', name: 'anna.dns.example.org' }, 'Anna')).toContain(
    '<key>DNSProtocol</key><string>TLS</string><key>ServerName</key><string>anna.dns.example.org</string>',
  );
});

test('appleProfile() escapes the name of the device, and leaves out what XML cannot contain', () => {
  const profile = appleProfile(HTTPS, '</string>&\u0000\ud800<x>');
  expect(profile).toContain('<string>Weir: &lt;/string&gt;&amp;\ufffd\ufffd&lt;x&gt;</string>');
});

test('appleProfile() keeps its identifiers for the same server, even after the device was renamed', () => {
  const uuids = (text: string): string[] => text.match(/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/g)!;
  const first = uuids(appleProfile(HTTPS, 'Anna'));
  expect(new Set(first).size).toBe(2);
  expect(uuids(appleProfile(HTTPS, 'Ben'))).toEqual(first);
  const other = uuids(appleProfile({ ...HTTPS, url: 'https://dns.example.org/dns-query/ben' }, 'Anna'));
  expect(first.some((uuid) => other.includes(uuid))).toBe(false);
});
