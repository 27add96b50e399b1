import { describe, expect, test } from '@jest/globals';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { fileFaults, workerHooks, workerSettings } from './worker-settings.ts';

const HOOKS = { udpBackend: 'auto', faultInjection: false } as const;

describe('workerSettings()', () => {
  test('returns the values of keys under the names that threads use', () => {
    const toml = `dns.query_timeout_ms = 1234\ncache.min_ttl_secs = 7\ndns.rate_limit.burst_size = 9
dns.health_check.interval_secs = 3\ndns.ecs = "forward"\ndns.udp_coalesce_us = 50`;
    expect(workerSettings(testConfig(toml), 5353, HOOKS)).toMatchObject({
      dnsPort: 5353,
      queryTimeoutMs: 1234,
      cache: { minTtlSecs: 7 },
      rateLimit: { burstSize: 9 },
      healthCheck: { intervalSecs: 3 },
      forwardsEcs: true,
      coalesceUs: 50,
      dnssec: null,
    });
  });
});

describe('fileFaults()', () => {
  test('names the key of each unusable file, and accepts that optional files are not configured', () => {
    const anchors = 'dns.dnssec_trust_anchors = "/nowhere/anchors"';
    expect(fileFaults(testConfig())).toEqual([]);
    expect(fileFaults(testConfig(anchors))).toEqual([]);
    const both = `${anchors}\ndns.dnssec_enabled = true\ndns.upstream_ca_path = "/etc/hostname"`;
    expect(fileFaults(testConfig(both))).toEqual([
      { path: 'dns.dnssec_trust_anchors', message: expect.stringContaining('ENOENT') },
      { path: 'dns.upstream_ca_path', message: expect.stringContaining('contains no PEM certificate') },
    ]);
  });
});

describe('workerHooks()', () => {
  test('are disabled by default, and enabled by environment variables', () => {
    expect(workerHooks({})).toEqual({ udpBackend: 'auto', faultInjection: false });
    expect(workerHooks({ WEIR_UDP_BACKEND: 'dgram', WEIR_FAULT_INJECTION: '1' })).toEqual({
      udpBackend: 'dgram',
      faultInjection: true,
    });
  });
});
