import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapAdguard } from './map-adguard.ts';
import { readAdguard } from './read-adguard.ts';

/** Values by key of the configuration. */
function keysOf(text: string): Record<string, unknown> {
  const files = new Map([[ONLY_TEXT, Buffer.from(`schema_version: 34\n${text}`)]]);
  return Object.fromEntries(mapAdguard(readAdguard(files)).keys.map(({ key, value }) => [key, value]));
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

  test('switches off what is off there', () => {
    expect(keysOf('dns: {ratelimit: 0, cache_size: 0}\nquerylog: {enabled: false}\n')).toEqual({
      'dns.rate_limit.enabled': false,
      'cache.enabled': false,
      'database.log_queries': false,
    });
  });
});
