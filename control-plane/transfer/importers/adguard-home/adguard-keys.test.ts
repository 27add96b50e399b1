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

/** Names of items without an equivalent. */
function leftOf(text: string): string[] {
  return planOf(text).items.flatMap(({ name, result }) => (result === null ? [] : [name]));
}

describe('mapAdguardKeys()', () => {
  test('limits values to the range that the configuration allows', () => {
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

  test('imports the disallowed clients', () => {
    const text = 'dns: {disallowed_clients: [192.0.2.66, 198.51.100.0/24, Phone, "no client"]}\n';
    expect(keysOf(text)).toEqual({ 'dns.blocked_clients': ['192.0.2.66/32', '198.51.100.0/24', 'phone'] });
    expect(leftOf(text)).toContain('dns.disallowed_clients no client');
  });

  test('imports the allowed clients, also by client key, and then omits the disallowed clients', () => {
    const text =
      'dns: {allowed_clients: [192.0.2.0/24, lap-7g3k9x2m4p8q1w5z], disallowed_clients: [192.0.2.66]}\n';
    expect(keysOf(text)).toEqual({ 'dns.allowed_clients': ['192.0.2.0/24'] });
    expect(planOf(text).document.clients).toMatchObject([
      { client_key: 'lap-7g3k9x2m4p8q1w5z', mac_address: null, ip_address: null },
    ]);
    expect(leftOf(text)).toEqual(['dns.disallowed_clients 192.0.2.66']);
  });

  test('does not allow all clients to query', () => {
    const open = 'dns: {allowed_clients: []}\n';
    expect([keysOf(open), leftOf(open)]).toEqual([{}, ['dns.allowed_clients']]);
    const whole = 'dns: {allowed_clients: [0.0.0.0/0, "::/0"]}\n';
    expect(keysOf(whole)).toEqual({ 'dns.allowed_clients': ['private', 'connected'] });
    expect(leftOf(whole)).toEqual(['dns.allowed_clients 0.0.0.0/0', 'dns.allowed_clients ::/0']);
  });

  test('maps privacy, timeouts, client subnets and stale answers', () => {
    const text =
      'dns: {anonymize_client_ip: true, upstream_timeout: 4s, edns_client_subnet: {enabled: true, use_custom: true, custom_ip: 192.0.2.9}, ' +
      'cache_optimistic: true, cache_optimistic_max_age: 12h, trusted_proxies: [127.0.0.0/8, 192.0.2.4], enable_dnssec: true}\n' +
      'statistics: {interval: 168h}\n';
    expect(keysOf(text)).toEqual({
      'cache.optimistic_refresh': true,
      'cache.serve_stale_secs': 43_200,
      'database.query_log_privacy': 'anonymous_clients',
      'database.rollup_days': 7,
      'dns.query_timeout_ms': 4000,
      'dns.ecs': 'forward',
      'dns.dnssec_enabled': true,
      'server.trusted_proxies': ['127.0.0.0/8', '192.0.2.4/32'],
    });
    expect(leftOf(text)).toEqual(['dns.edns_client_subnet.custom_ip 192.0.2.9']);
  });

  test("marks a setting as questionable if it is a default of AdGuard Home that does not improve on Weir's", () => {
    const text =
      'dns: {upstream_timeout: 10s, cache_size: 4194304, enable_dnssec: true, trusted_proxies: [127.0.0.0/8, "::1/128"]}\n' +
      'statistics: {interval: 24h}\n';
    const doubted = planOf(text).keys.flatMap(({ key, doubt }) => (doubt === null ? [] : [key]));
    expect(doubted).toEqual([
      'cache.max_bytes',
      'dns.query_timeout_ms',
      'dns.dnssec_enabled',
      'database.rollup_days',
    ]);
    expect(keysOf(text)).not.toHaveProperty(['server.trusted_proxies']);
  });

  test('pauses blocking until the time in the file', () => {
    const until = (time: string) =>
      planOf(`filtering: {protection_enabled: false, protection_disabled_until: ${time}}\n`);
    const paused = until('2999-01-02T03:04:05.123456789Z');
    expect(paused.pause).toMatchObject({ until: '2999-01-02T03:04:05.123Z' });
    const past = until('2020-01-02T03:04:05Z');
    expect([past.pause, past.items.at(-1)]).toMatchObject([null, { result: 'skipped' }]);
    for (const { keys } of [paused, past])
      expect(keys).toMatchObject([{ key: 'blocking.enabled', value: true }]);
    expect(keysOf('filtering: {protection_enabled: false, protection_disabled_until: null}\n')).toEqual({
      'blocking.enabled': false,
    });
  });

  test('uses the domain and the names of leases only if the DHCP server is enabled', () => {
    const leases = Buffer.from(
      '{"leases": [{"mac": "02:00:5e:00:00:01", "ip": "192.168.50.30", "hostname": "printer2", "static": true},' +
        '{"mac": "02:00:5e:00:00:02", "ip": "192.168.50.31", "hostname": "guest", "static": false}]}',
    );
    const of = (dhcp: string) => {
      const yaml = Buffer.from(`schema_version: 34\ndhcp: ${dhcp}\n`);
      return mapAdguard(
        readAdguard(
          new Map([
            ['AdGuardHome.yaml', yaml],
            ['data/leases.json', leases],
          ]),
        ),
      );
    };
    const { document, items } = of('{enabled: true, local_domain_name: home.example}');
    expect(document.local_records).toMatchObject([
      { hostname: 'printer2', domain: 'home.example', record_type: 'A', value: '192.168.50.30' },
    ]);
    expect(items.find(({ name }) => name.startsWith('guest.home.example'))).toMatchObject({
      result: 'not_mapped',
    });
    const off = of('{enabled: false, local_domain_name: lan}');
    expect([off.document.local_records, off.document.configuration]).toEqual([[], {}]);
    expect(off.items).toContainEqual(
      expect.objectContaining({ name: 'local_domain_name lan', result: 'skipped' }),
    );
  });

  test('disables the features that are disabled in the file', () => {
    expect(keysOf('dns: {ratelimit: 0, cache_size: 0}\nquerylog: {enabled: false}\n')).toEqual({
      'dns.rate_limit.enabled': false,
      'cache.enabled': false,
      'database.log_queries': false,
    });
  });
});
