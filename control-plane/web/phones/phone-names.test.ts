import { describe, expect, test } from '@jest/globals';
import { phoneNames } from './phone-names.ts';

const NOW = Date.UTC(2026, 5, 1);
const BOTH = {
  dot_enabled: true,
  dot_port: 853,
  doh_enabled: true,
  doh_port: 443,
  tls_cert_path: '',
  tls_key_path: '',
};
const settings = (more: Partial<typeof BOTH> = {}, allowed: string[] = ['any']) => ({
  server: { encrypted_dns: { ...BOTH, ...more } },
  dns: { allowed_clients: allowed },
});
const facts = (names: string[], more = {}) => ({
  subject: 'CN=x',
  issuer: 'CN=y',
  names,
  keyType: 'EC P-256',
  notBefore: new Date(NOW - 1000),
  notAfter: new Date(NOW + 1000),
  isSelfSigned: false,
  ...more,
});

describe('phoneNames(), the names that a phone needs for encrypted DNS,', () => {
  test('returns the TLS and HTTPS names for a certificate with a wildcard and its parent name', () => {
    const names = facts(['192.0.2.1', 'other.example', '*.dns.example.org', 'dns.example.org']);
    expect(phoneNames('anna', names, settings(), NOW)).toEqual({
      private_dns_name: 'anna.dns.example.org',
      doh_url: 'https://dns.example.org/dns-query/anna',
      problems: [],
    });
  });

  test('includes an HTTPS port other than 443 in the URL, and reports a TLS port other than 853 as a problem', () => {
    const names = facts(['*.example.org', 'dns.example.org']);
    expect(phoneNames('a', names, settings({ dot_port: 8853, doh_port: 8443 }), NOW)).toEqual({
      private_dns_name: 'a.example.org',
      doh_url: 'https://dns.example.org:8443/dns-query/a',
      problems: ['dot_port_not_853'],
    });
  });

  test.each([
    ['encrypted_dns_disabled', facts(['*.a.example']), { dot_enabled: false, doh_enabled: false }],
    ['no_certificate', null, {}],
    ['no_wildcard_name', facts(['dns.example.org']), {}],
    ['no_host_name', facts(['*.example.org', 'localhost', '192.0.2.1']), {}],
    ['certificate_expired', facts(['*.a.example', 'a.example'], { notAfter: new Date(NOW - 1) }), {}],
    ['self_signed', facts(['*.a.example', 'a.example'], { isSelfSigned: true }), {}],
  ] as const)('reports the problem %s', (problem, certificate, more) => {
    expect(phoneNames('a', certificate, settings(more), NOW).problems).toEqual([problem]);
  });

  test('reports no problem about a disabled protocol', () => {
    const onlyHttps = phoneNames('a', facts(['dns.example.org']), settings({ dot_enabled: false }), NOW);
    expect(onlyHttps).toMatchObject({ private_dns_name: null, problems: [] });
  });

  test.each<[string[], string, string[]]>([
    [['private', 'connected'], 'annas-phone', ['key_not_random']],
    [['private', 'connected'], '7kq2m9xw4t8rb5ny', []],
    [['any'], 'annas-phone', []],
  ])('with allowed clients %j, the key "%s" has the problems %j', (allowed, key, problems) => {
    const certificate = facts(['*.a.example', 'a.example']);
    expect(phoneNames(key, certificate, settings({}, allowed), NOW).problems).toEqual(problems);
  });
});
