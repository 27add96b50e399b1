import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapAdguard } from './map-adguard.ts';
import { readAdguard } from './read-adguard.ts';

const planOf = (text: string) =>
  mapAdguard(readAdguard(new Map([[ONLY_TEXT, Buffer.from(`schema_version: 34\n${text}`)]])));
/** Rows without objects, as `result name`. */
const rowsOf = (text: string): string[] =>
  planOf(text).items.flatMap(({ name, result }) => (result === null ? [] : [`${result} ${name}`]));

describe('mapAdguard()', () => {
  test('denies blocked hosts for all groups, and for *.x only names below x', () => {
    const {
      managed_domains: domains,
      regex_filters: filters,
      list_sources: lists,
    } = planOf(
      "dns: {blocked_hosts: [Plain.example, '||tree.example^', '*.below.example', 'ad*.example', '@@||x^']}\n",
    ).document;
    expect(domains.map(({ domain }) => domain)).toEqual(['plain.example', '*.tree.example']);
    expect(filters).toMatchObject([{ pattern: '\\.below\\.example$', action: 'deny', group: null }]);
    expect(lists[0]!.text).toContain('\nad*.example$important\n');
    expect(rowsOf("dns: {blocked_hosts: ['@@||x^']}\n")).toEqual(['not_mapped blocked_hosts @@||x^']);
  });

  test('blocks bogus addresses by custom rules, and disables IPv6 for every group', () => {
    const { document, items } = planOf(
      'dns: {bogus_nxdomain: [192.0.2.1, 198.51.100.0/24, x], aaaa_disabled: true}\nclients:\n  persistent:\n' +
        '    - {name: A, ids: [192.0.2.7], use_global_settings: false, filtering_enabled: false}\n',
    );
    expect(document.list_sources).toMatchObject([
      { text: '! AdGuard Home: bogus addresses\nbogus-nxdomain=192.0.2.1\nbogus-nxdomain=198.51.100.0/24\n' },
    ]);
    expect(document.groups.map(({ no_ipv6: noIpv6 }) => noIpv6)).toEqual([true, true]);
    expect(items.find(({ name }) => name.endsWith(' x'))).toMatchObject({ result: 'not_mapped' });
  });

  test('lists exceptions from rewrites, clients without rewrites, and services as answered differently', () => {
    const text =
      "user_rules: ['@@||ok.example^']\nfiltering:\n  blocked_services: {ids: [tiktok]}\n  rewrites:\n" +
      "    - {domain: '*.apps.example', answer: 192.0.2.6}\n    - {domain: v4.apps.example, answer: A}\n" +
      '    - {domain: alone.example, answer: alone.example}\nclients:\n  persistent:\n' +
      '    - {name: Server, ids: [192.0.2.7], use_global_settings: false, filtering_enabled: false}\n';
    expect(rowsOf(text)).toEqual([
      'differs v4.apps.example A',
      'skipped alone.example alone.example',
      'differs local records for Server',
      'differs exceptions from blocked services',
      'differs answers of blocked services',
    ]);
    expect(planOf(text).items.at(-2)!.domains).toEqual(['ok.example']);
  });

  test('adds no rewrites if no client is filtered', () => {
    const text =
      'filtering: {filtering_enabled: false, rewrites: [{domain: a.example, answer: 192.0.2.6}]}\n';
    expect([planOf(text).document.local_records, rowsOf(text)]).toEqual([
      [],
      ['skipped a.example 192.0.2.6'],
    ]);
  });

  test('reports settings without an equivalent', () => {
    const text =
      'http: {address: 0.0.0.0:80}\ndns: {hostsfile_enabled: true, use_dns64: true, ipset: [a/b], use_private_ptr_resolvers: true}\n' +
      'filtering: {filters_update_interval: 0, parental_enabled: true}\nquerylog: {file_enabled: false}\nstatistics: {enabled: false}\n';
    expect(rowsOf(text)).toEqual([
      'differs dns.use_private_ptr_resolvers',
      'differs filters_update_interval 0',
      'differs querylog.file_enabled',
      'differs statistics.enabled',
      'not_mapped parental control',
      'not_mapped dns.ipset',
      'not_mapped dns.use_dns64',
      'not_mapped dns.hostsfile_enabled',
      'skipped http',
    ]);
  });

  test('excludes the same names and clients from log and statistics', () => {
    const text =
      "querylog: {ignored: ['||tree.example^', plain.example, '*.below.example', '|.^', 'ad*.example'], ignored_enabled: true}\n" +
      "statistics: {ignored: ['||tree.example^'], ignored_enabled: false}\nclients:\n  persistent:\n" +
      '    - {name: A, ids: [192.0.2.7, 192.0.2.64/26], ignore_querylog: true, ignore_statistics: false}\n';
    const { keys, document } = planOf(text);
    expect(keys).toMatchObject([
      { key: 'database.log_excluded_domains', value: ['tree.example', 'plain.example', 'below.example'] },
    ]);
    expect(document.clients).toMatchObject([{ exclude_from_log: true, exclude_from_stats: false }]);
    expect(rowsOf(text)).toEqual([
      'not_mapped A: 192.0.2.64/26',
      'differs querylog.ignored plain.example',
      'differs querylog.ignored *.below.example',
      'not_mapped querylog.ignored |.^',
      'not_mapped querylog.ignored ad*.example',
    ]);
  });

  test('imports the schedules of services, with one schedule profile for equal schedules', () => {
    const times = 'schedule: {time_zone: Europe/Berlin, mon: {start: 8h, end: 24h}}';
    const own = 'use_global_settings: true, use_global_blocked_services: false';
    const { schedule_profiles: profiles, blocked_services: services } = planOf(
      `filtering: {blocked_services: {ids: [tiktok], ${times}}}\nclients:\n  persistent:\n` +
        `    - {name: A, ids: [192.0.2.7], ${own}, blocked_services: {ids: [reddit], ${times}}}\n` +
        `    - {name: B, ids: [192.0.2.8], ${own}, blocked_services: {ids: [reddit], schedule: {time_zone: UTC}}}\n`,
    ).document;
    expect(profiles).toEqual([
      {
        name: 'AdGuard Home: services',
        timezone: 'Europe/Berlin',
        comment: '',
        days_off: [],
        slots: [
          { days: 1, start_time: 0, end_time: 480, action: 'block_all', skips_days_off: false },
          { days: 126, start_time: 0, end_time: 1440, action: 'block_all', skips_days_off: false },
        ],
      },
    ]);
    expect(services.map(({ group, profile }) => [group, profile])).toEqual([
      ['Default', 'AdGuard Home: services'],
      ['AdGuard Home: A', 'AdGuard Home: services'],
      ['AdGuard Home: B', null],
    ]);
  });
});
