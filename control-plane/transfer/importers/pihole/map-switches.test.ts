import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { blockingAddresses, mapSwitches } from './map-switches.ts';
import type { PiholeKeys } from './pihole-settings.ts';
import { NO_TABLES } from './read-gravity.ts';

/** The plan of these keys, and of a file with custom lines for dnsmasq. */
function planOf(keys: PiholeKeys, lines: readonly string[] = []) {
  const builder = new PlanBuilder();
  mapSwitches(builder, {
    ...NO_TABLES,
    devices: [],
    leases: [],
    dnsmasqFiles: [['own.conf', lines]],
    keys,
    systemHosts: [],
  });
  return builder.finish('pihole');
}

const keysOf = (keys: PiholeKeys, lines?: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(planOf(keys, lines).keys.map(({ key, value }) => [key, value]));

describe('mapSwitches()', () => {
  test.each([
    [-1, 0],
    [0, 31_536_000],
    [3600, 3600],
    [99_999_999, 31_536_000],
  ])('maps stale answers for %s seconds to %s', (staleSecs, value) => {
    expect(keysOf({ staleSecs })).toEqual({ 'cache.serve_stale_secs': value });
  });

  test.each([
    [0, 1],
    [91, 91],
    [99_999, 3650],
  ])('maps a log kept for %s days to %s', (logDays, value) => {
    expect(keysOf({ logDays })).toEqual({ 'database.query_log_days': value });
  });

  test('disables rebinding protection unless a dnsmasq line contains stop-dns-rebind', () => {
    const keys = { upstreams: ['192.0.2.1'] };
    expect(keysOf(keys)).toEqual({ 'dns.rebinding_protection': false });
    expect(keysOf(keys, ['  stop-dns-rebind '])).toEqual({});
    expect(keysOf(keys, ['#stop-dns-rebind'])).toEqual({ 'dns.rebinding_protection': false });
    expect(keysOf({})).toEqual({});
  });

  test('reports an unknown blocking mode and an unknown special domain', () => {
    const { keys, items } = planOf({ blockingMode: 'ODD', specialDomains: { odd: true } });
    expect(keys).toEqual([]);
    expect(items.map(({ name, result }) => [name, result])).toEqual([
      ['dns.blocking.mode ODD', 'not_mapped'],
      ['dns.specialDomains.odd', 'not_mapped'],
    ]);
  });
});

test('blockingAddresses() returns the configured addresses', () => {
  expect(blockingAddresses({})).toEqual([]);
  expect(blockingAddresses({ blockingIpv4: '', blockingIpv6: '2001:db8::80' })).toEqual(['2001:db8::80']);
});
