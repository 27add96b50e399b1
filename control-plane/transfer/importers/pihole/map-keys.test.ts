import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapKeys } from './map-keys.ts';
import { mapPihole } from './map-pihole.ts';
import type { PiholeDomain, PiholeKeys } from './pihole-settings.ts';
import { NO_TABLES } from './read-gravity.ts';

const NO_FILES = { devices: [], leases: [], dnsmasqFiles: [] };

/** The plan of these keys alone. */
function planOf(keys: PiholeKeys, systemHosts: readonly string[] = []) {
  const builder = new PlanBuilder();
  mapKeys(builder, { ...NO_TABLES, ...NO_FILES, keys, systemHosts });
  return builder.finish('pihole');
}

/** The names and values of the keys, without the key for rebinding. */
function keysOf(keys: PiholeKeys): Record<string, unknown> {
  return Object.fromEntries(planOf(keys).keys.map(({ key, value }) => [key, value]));
}

/** Owner, type and value of each record. */
function recordsOf(keys: PiholeKeys): string[] {
  return planOf(keys).document.local_records.map(
    ({ hostname, domain, record_type: type, value }) =>
      `${domain === '' ? hostname : `${hostname}.${domain}`} ${type} ${value}`,
  );
}

describe('mapKeys()', () => {
  test.each([
    ['NULL', 'null_ip'],
    ['NX', 'nxdomain'],
    ['NODATA', 'nodata'],
  ])('maps the blocking mode %s to %s', (blockingMode, value) => {
    expect(keysOf({ blockingMode })).toEqual({ 'blocking.mode': value });
  });

  test('maps a blocking mode with an address only if the address is set', () => {
    const addresses = { blockingIpv4: '192.0.2.80', blockingIpv6: '2001:db8::80' };
    expect(keysOf({ blockingMode: 'IP', ...addresses })).toEqual({
      'blocking.mode': 'custom_ip',
      'blocking.custom_ipv4': '192.0.2.80',
      'blocking.custom_ipv6': '2001:db8::80',
    });
    expect(keysOf({ blockingMode: 'IP_NODATA_AAAA', ...addresses })).toMatchObject({
      'blocking.custom_ipv4': '192.0.2.80',
      'blocking.custom_ipv6': '',
    });
    const unknown = planOf({ blockingMode: 'IP' });
    expect(unknown.keys).toEqual([]);
    expect(unknown.items).toMatchObject([{ name: 'dns.blocking.mode IP', result: 'not_mapped' }]);
  });

  test('reads names of loopback addresses, single-label names, and names in hostRecord', () => {
    const keys: PiholeKeys = {
      hosts: ['127.0.0.1 pihole', '192.168.1.9 other', '::1 six.lan'],
      expandHosts: true,
      localDomain: 'lan',
      hostRecord: 'myhost,192.168.1.77',
    };
    expect(recordsOf(keys)).toEqual([
      'pihole.lan A 127.0.0.1',
      'pihole A 127.0.0.1',
      'other.lan A 192.168.1.9',
      'other A 192.168.1.9',
      'six.lan AAAA ::1',
      'myhost A 192.168.1.77',
    ]);
    expect(recordsOf({ ...keys, expandHosts: false })).toContain('other A 192.168.1.9');
    expect(recordsOf({ ...keys, expandHosts: false })).not.toContain('other.lan A 192.168.1.9');
  });

  test('reports names with 0.0.0.0 if the blocking mode answers differently', () => {
    const rowsOf = (blockingMode: string) =>
      planOf({ hosts: ['0.0.0.0 sink.example', '192.0.2.1 nas.lan'], blockingMode, domainNeeded: true })
        .items.filter(({ name }) => name === 'names with 0.0.0.0 or ::')
        .map(({ domains }) => domains);
    expect([rowsOf('NULL'), rowsOf('NX')]).toEqual([[], [['sink.example']]]);
  });

  test('answers the local domain locally, unless the file has a server for it', () => {
    const zonesOf = (keys: PiholeKeys): string[] =>
      planOf(keys).document.forward_zones.map(({ zone, servers }) => [zone, ...servers].join(' '));
    const local = { localDomain: 'lan', isDomainLocal: true };
    expect(zonesOf(local)).toEqual(expect.arrayContaining(['lan', 'internal']));
    const forwarded = zonesOf({ ...local, revServers: ['true,192.0.2.0/24,192.0.2.1,lan'] });
    expect(forwarded).not.toContain('lan');
    expect(forwarded).toContain('lan 192.0.2.1');
    expect(zonesOf({ ...local, revServers: ['false,192.0.2.0/24,192.0.2.1,lan'] })).toContain('lan');
    expect(zonesOf({ localDomain: 'lan', isDomainLocal: false })).not.toContain('lan');
    expect(zonesOf({ localDomain: 'lan' })).toEqual([]);
  });

  test('reports that single-label names were forwarded to a server', () => {
    const revServers = ['true,192.0.2.0/24,192.0.2.1,lan'];
    const rowsOf = (keys: PiholeKeys) => planOf(keys).items.filter(({ result }) => result === 'differs');
    expect(rowsOf({ revServers, domainNeeded: false })).toMatchObject([
      { name: 'names without a dot to 192.0.2.1' },
    ]);
    expect(rowsOf({ revServers, domainNeeded: true })).toEqual([]);
  });

  test.each([
    [0, 'full', 0],
    [1, 'off', 1],
    [2, 'off', 1],
    [3, 'off', 0],
  ])('maps the privacy level %i to %s', (privacyLevel, value, differences) => {
    const { keys, items } = planOf({ privacyLevel });
    expect(keys).toMatchObject([{ key: 'database.query_log_privacy', value }]);
    expect(items.filter(({ result }) => result === 'differs')).toHaveLength(differences);
  });

  test.each([
    [91, 91],
    [0, 1],
    [9000, 3650],
  ])('maps the log retention %i days to %i', (logDays, value) => {
    expect(keysOf({ logDays })).toEqual({ 'database.query_log_days': value });
  });

  test.each([
    [3600, 3600],
    [0, 31_536_000],
    [-1, 0],
  ])('maps the maximum age %i of stale answers to %i', (staleSecs, value) => {
    expect(keysOf({ staleSecs })).toEqual({ 'cache.serve_stale_secs': value });
  });

  test('maps the settings of special domains', () => {
    const plan = planOf({
      specialDomains: { mozillaCanary: false, iCloudPrivateRelay: true, designatedResolver: false },
    });
    expect(plan.keys).toMatchObject([
      { key: 'dns.block_doh_canary', value: false },
      { key: 'dns.block_private_relay', value: true },
    ]);
    expect(plan.items.at(-1)).toMatchObject({
      name: 'dns.specialDomains.designatedResolver',
      result: 'not_mapped',
    });
  });

  test('allows private addresses in answers, unless a dnsmasq line prevents that', () => {
    const upstreams = ['192.0.2.53'];
    expect(keysOf({ upstreams })).toMatchObject({ 'dns.rebinding_protection': false });
    expect(keysOf({ upstreams, dnsmasqLines: ['stop-dns-rebind'] })).toMatchObject({
      'dns.rebinding_protection': true,
    });
  });

  test.each([
    ['LOCAL', ['127.0.0.0/8', '::1/128', 'connected'], []],
    ['local', ['127.0.0.0/8', '::1/128', 'connected'], []],
    ['ALL', undefined, ['dns.listeningMode ALL']],
    ['SINGLE', undefined, ['dns.listeningMode SINGLE']],
    ['bind', undefined, ['dns.listeningMode bind']],
    ['NONE', undefined, ['dns.listeningMode NONE']],
  ])('maps the listening mode %s', (listeningMode, allowed, left) => {
    const { keys, items } = planOf({ listeningMode, networkInterface: 'eth0' });
    expect(keys.find(({ key }) => key === 'dns.allowed_clients')?.value).toEqual(allowed);
    expect(items.flatMap(({ name, result }) => (result === null ? [] : [name]))).toEqual(left);
  });

  test('imports a rate limit per address, or that there is none', () => {
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

  test('leaves out names of the operating system, and turns hosts lines with 0.0.0.0 into denied names', () => {
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

  test('imports dnsmasq lines, and adds their servers to the pool', () => {
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
    expect(plan.keys[0]).toMatchObject({ value: [{ servers: ['192.0.2.53:53', '192.0.2.54'] }] });
    expect(plan.items.filter(({ result }) => result === 'not_mapped')).toMatchObject([
      { name: 'dhcp-option' },
    ]);
  });

  test('creates forward zones for the network and the domain of a server, disabled if the server is', () => {
    const { document } = planOf({
      revServers: ['false,192.0.2.0/24,192.0.2.1#5353,lan', 'true,,quic://x,y'],
    });
    expect(document.forward_zones).toMatchObject([
      { zone: '2.0.192.in-addr.arpa', servers: ['192.0.2.1:5353'], enabled: false },
      { zone: 'lan', enabled: false },
    ]);
  });
});

describe('mapPihole()', () => {
  const planWith = (keys: PiholeKeys, domains: readonly PiholeDomain[] = []) =>
    mapPihole({
      ...NO_TABLES,
      ...NO_FILES,
      lists: [{ id: 1, address: 'https://lists.example/a', kind: 'block', enabled: true, comment: '' }],
      listLinks: new Map([[1, [0]]]),
      groups: [{ id: 0, name: 'Default', enabled: true, comment: '' }],
      domains,
      domainLinks: new Map(domains.map(({ id }) => [id, [0]])),
      hasTables: true,
      keys,
      systemHosts: [],
    });
  const domain = (id: number, type: number, text: string): PiholeDomain => ({
    id,
    type,
    domain: text,
    enabled: true,
    comment: '',
  });

  test('reports a name that is denied in Pi-hole although it has a record', () => {
    const { items } = planWith(
      { hosts: ['192.0.2.5 nas.lan ok.lan free.lan'], cnames: ['alias.lan,nas.lan'] },
      [domain(1, 1, 'nas.lan'), domain(2, 3, '^(ok|alias)'), domain(3, 0, 'ok.lan')],
    );
    const differing = items.filter(({ result }) => result === 'differs');
    expect(differing.filter(({ kind }) => kind === 'local_record')).toMatchObject([
      { name: 'nas.lan', domains: ['nas.lan'] },
      { name: 'alias.lan' },
    ]);
    const named = ['nas.lan', 'ok.lan', 'free.lan', 'alias.lan'];
    expect(differing.filter(({ kind }) => kind === 'other')).toMatchObject([
      { name: 'names with records', domains: named },
      { name: 'types of names with records', domains: named },
    ]);
  });

  test('reports that types without a record are forwarded, only for names outside the local domain', () => {
    const { items } = planWith({
      hosts: ['192.0.2.5 nas.lan host.example one'],
      localDomain: 'lan',
      isDomainLocal: true,
    });
    expect(items.find(({ name }) => name === 'types of names with records')?.domains).toEqual([
      'host.example',
    ]);
  });

  test('reports the names that Pi-hole answered itself', () => {
    const { items } = planWith({ upstreams: ['192.0.2.53'] });
    expect(items.filter(({ kind }) => kind === 'other').map(({ name }) => name)).toEqual([
      'names whose alias is denied',
      'pi.hole',
      'names below .local',
    ]);
  });

  test('excludes hidden domains, hidden clients and the machine itself from log and statistics', () => {
    const { document, keys, items } = planWith({
      excludedDomains: ['(^|\\.)google\\.example$', '^one\\.example$', 'any'],
      excludedClients: ['^192\\.0\\.2\\.56$', '^laptop$'],
      ignoresLocalhost: true,
    });
    expect(keys).toMatchObject([
      { key: 'database.log_excluded_domains', value: ['google.example', 'one.example'] },
      { key: 'database.stats_excluded_domains', value: ['google.example', 'one.example'] },
    ]);
    const excluded = { exclude_from_log: true, exclude_from_stats: true };
    expect(document.clients).toMatchObject([
      { ip_address: '192.0.2.56', group: null, ...excluded },
      { ip_address: '127.0.0.1', group: 'Unfiltered (Pi-hole)', ...excluded },
      { ip_address: '::1', group: 'Unfiltered (Pi-hole)', ...excluded },
    ]);
    expect(items.filter(({ result }) => result === 'not_mapped').map(({ name }) => name)).toEqual([
      'excludeDomains any',
      'excludeClients ^laptop$',
    ]);
  });

  test('reports settings without an equivalent, but no values of sections with secrets', () => {
    const { items } = planWith({
      others: new Map<string, unknown>([
        ['dns.CNAMEdeepInspect', false],
        ['dns.EDNS0ECS', false],
        ['dns.piholePTR', 'PI.HOLE'],
        ['dns.reply.host.IPv4', '192.0.2.80'],
        ['webserver.api.pwhash', 'hunter2'],
      ]),
    });
    const rows = items.map(({ name, result }) => [name, result]);
    expect(rows).toEqual([
      ['Default', 'skipped'],
      ['https://lists.example/a', null],
      ['dns.CNAMEdeepInspect false', 'differs'],
      ['dns.EDNS0ECS false', 'not_mapped'],
      ['dns.reply.host.IPv4 192.0.2.80', 'not_mapped'],
      ['webserver', 'skipped'],
    ]);
    expect(JSON.stringify(items)).not.toContain('hunter2');
  });
});
