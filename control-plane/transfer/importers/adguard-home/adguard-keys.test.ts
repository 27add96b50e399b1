import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapAdguard } from './map-adguard.ts';
import { readAdguard } from './read-adguard.ts';

function planOf(text: string) {
  return mapAdguard(readAdguard(new Map([[ONLY_TEXT, Buffer.from(`schema_version: 34\n${text}`)]])));
}

/** Values by key of the configuration. */
function keysOf(text: string): Record<string, unknown> {
  return Object.fromEntries(planOf(text).keys.map(({ key, value }) => [key, value]));
}

/** Names of what is not imported. */
function leftOf(text: string): string[] {
  return planOf(text).items.flatMap(({ name, result }) => (result === null ? [] : [name]));
}

describe('mapAdguardKeys()', () => {
  test('keeps values within the bounds of the configuration', () => {
    const text =
      'dns: {cache_size: 1, cache_ttl_min: 999999, ratelimit: 5, ratelimit_whitelist: ["2001:db8::1", 192.0.2.0/24]}\n' +
      'filtering: {blocked_response_ttl: 999999, filters_update_interval: 99999}\nquerylog: {interval: 30m}\n';
    expect(keysOf(text)).toEqual({
      'blocking.ttl_secs': 86_400,
      'blocking.list_refresh_hours': 8760,
      'dns.rate_limit.enabled': true,
      'dns.rate_limit.queries_per_second': 5,
      'dns.rate_limit.burst_size': 5,
      'dns.rate_limit.ipv4_prefix_len': 32,
      'dns.rate_limit.ipv6_prefix_len': 128,
      'dns.rate_limit.whitelist': ['2001:db8::1/128', '192.0.2.0/24'],
      'cache.enabled': true,
      'cache.max_bytes': 1_048_576,
      'cache.min_ttl_secs': 86_400,
      'database.query_log_days': 1,
    });
  });

  test('takes over who may not ask', () => {
    const text = 'dns: {disallowed_clients: [192.0.2.66, 198.51.100.0/24, Phone, "no client"]}\n';
    expect(keysOf(text)).toEqual({ 'dns.blocked_clients': ['192.0.2.66/32', '198.51.100.0/24', 'phone'] });
    expect(leftOf(text)).toContain('dns.disallowed_clients no client');
  });

  test('takes over who may ask, with clients of known keys, and leaves the other list out', () => {
    const text =
      'dns: {allowed_clients: [192.0.2.0/24, lap-7g3k9x2m4p8q1w5z], disallowed_clients: [192.0.2.66]}\n';
    expect(keysOf(text)).toEqual({ 'dns.allowed_clients': ['192.0.2.0/24'] });
    expect(planOf(text).document.clients).toMatchObject([
      { client_key: 'lap-7g3k9x2m4p8q1w5z', mac_address: null, ip_address: null },
    ]);
    expect(leftOf(text)).toEqual(['dns.disallowed_clients 192.0.2.66']);
  });

  test('does not let everyone ask', () => {
    const open = 'dns: {allowed_clients: []}\n';
    expect([keysOf(open), leftOf(open)]).toEqual([{}, ['dns.allowed_clients']]);
    const whole = 'dns: {allowed_clients: [0.0.0.0/0, "::/0"]}\n';
    expect(keysOf(whole)).toEqual({ 'dns.allowed_clients': ['private', 'connected'] });
    expect(leftOf(whole)).toEqual(['dns.allowed_clients 0.0.0.0/0', 'dns.allowed_clients ::/0']);
  });

  test('switches off what is off there', () => {
    expect(keysOf('dns: {ratelimit: 0, cache_size: 0}\nquerylog: {enabled: false}\n')).toEqual({
      'dns.rate_limit.enabled': false,
      'cache.enabled': false,
      'database.log_queries': false,
    });
  });
});
