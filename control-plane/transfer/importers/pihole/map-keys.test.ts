import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapKeys } from './map-keys.ts';
import type { PiholeKeys } from './pihole-settings.ts';

/** The plan of these keys alone. */
function planOf(keys: PiholeKeys, systemHosts: readonly string[] = []) {
  const builder = new PlanBuilder();
  const none = new Map<number, number[]>();
  const links = { listLinks: none, domainLinks: none, clientLinks: none };
  const tables = {
    groups: [],
    lists: [],
    domains: [],
    clients: [],
    devices: [],
    leases: [],
    dnsmasqFiles: [],
  };
  mapKeys(builder, { ...tables, ...links, keys, systemHosts });
  return builder.finish('pihole');
}

describe('mapKeys()', () => {
  test.each([
    ['NULL', 'null_ip'],
    ['NX', 'nxdomain'],
    ['NODATA', 'nodata'],
    ['IP', 'custom_ip'],
    ['IP_NODATA_AAAA', 'custom_ip'],
  ])('knows the blocking mode %s as %s', (blockingMode, value) => {
    expect(planOf({ blockingMode }).keys).toMatchObject([{ key: 'blocking.mode', value }]);
  });

  test.each([
    ['LOCAL', ['127.0.0.0/8', '::1/128', 'connected'], []],
    ['local', ['127.0.0.0/8', '::1/128', 'connected'], []],
    ['ALL', undefined, ['dns.listeningMode ALL']],
    ['SINGLE', undefined, ['dns.listeningMode SINGLE']],
    ['bind', undefined, ['dns.listeningMode bind']],
    ['NONE', undefined, ['dns.listeningMode NONE']],
  ])('knows the listening mode %s', (listeningMode, allowed, left) => {
    const { keys, items } = planOf({ listeningMode, networkInterface: 'eth0' });
    expect(keys.find(({ key }) => key === 'dns.allowed_clients')?.value).toEqual(allowed);
    expect(items.flatMap(({ name, result }) => (result === null ? [] : [name]))).toEqual(left);
  });

  test('takes over a limit per address, or that there is none', () => {
    const limited = planOf({ rateLimit: { count: 1000, interval: 60 } }).keys.map(({ key, value }) => [
      key,
      value,
    ]);
    expect(Object.fromEntries(limited)).toEqual({
      'dns.rate_limit.enabled': true,
      'dns.rate_limit.queries_per_second': 17,
      'dns.rate_limit.burst_size': 1000,
      'dns.rate_limit.ipv4_prefix_len': 32,
      'dns.rate_limit.ipv6_prefix_len': 128,
    });
    expect(planOf({ rateLimit: { count: 0, interval: 0 } }).keys).toMatchObject([{ value: false }]);
  });

  test('leaves the names of the system itself out, and makes denied names of blocking lines', () => {
    const plan = planOf({ hosts: ['0.0.0.0 ads.example', 'nonsense'] }, [
      '127.0.0.1 localhost',
      '::1 ip6-localhost',
      '192.0.2.9 box',
    ]);
    expect(plan.document.local_records).toMatchObject([
      { hostname: 'box', domain: '', record_type: 'A', value: '192.0.2.9' },
    ]);
    expect(plan.document.managed_domains).toMatchObject([
      { domain: 'ads.example', action: 'deny', group: null },
    ]);
    expect(plan.items.filter(({ result }) => result === 'not_mapped')).toMatchObject([{ name: 'nonsense' }]);
  });

  test('takes lines for dnsmasq over, its servers among those of all names', () => {
    const plan = planOf({
      upstreams: ['192.0.2.53#53'],
      dnsmasqLines: [
        'address=/denied.example/',
        'server=192.0.2.54',
        'dhcp-option=3,192.0.2.1',
        'host-record=nas.lan,192.0.2.5',
      ],
    });
    expect(plan.document.managed_domains).toMatchObject([{ domain: '*.denied.example', action: 'deny' }]);
    expect(plan.document.local_records).toMatchObject([{ hostname: 'nas', domain: 'lan' }]);
    expect(plan.keys).toMatchObject([{ value: [{ servers: ['192.0.2.53:53', '192.0.2.54'] }] }]);
    expect(plan.items.filter(({ result }) => result === 'not_mapped')).toMatchObject([
      { name: 'dhcp-option' },
    ]);
  });

  test('makes zones of a network and of a domain, off where the server is', () => {
    const { document } = planOf({
      revServers: ['false,192.0.2.0/24,192.0.2.1#5353,lan', 'true,,quic://x,y'],
    });
    expect(document.forward_zones).toMatchObject([
      { zone: '2.0.192.in-addr.arpa', servers: ['192.0.2.1:5353'], enabled: false },
      { zone: 'lan', enabled: false },
    ]);
  });
});
