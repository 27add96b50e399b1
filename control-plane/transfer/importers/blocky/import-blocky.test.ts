/** Configurations of blocky: the plan, and whether the same queries get the same decisions. */
import { describe, expect, test } from '@jest/globals';
import { type ExpectedStatus, importSuite, itemsOf } from '../../../../test/support/parts/import-suite.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapBlocky } from './map-blocky.ts';
import { readBlocky } from './read-blocky.ts';

const { imported, answered } = importSuite();

const planOf = (text: string) => mapBlocky(readBlocky(new Map([[ONLY_TEXT, Buffer.from(text)]])));
const keysOf = (text: string) => Object.fromEntries(planOf(text).keys.map(({ key, value }) => [key, value]));
/** Names and reasons of the rows with a result. */
const rowsOf = (text: string, result: string) =>
  Object.fromEntries(
    planOf(text).items.flatMap((item) => (item.result === result ? [[item.name, item.reason ?? '']] : [])),
  );

async function expectAnswers(file: string, table: readonly ExpectedStatus[]): Promise<void> {
  await imported(file, '?format=blocky');
  expect(await answered(table)).toEqual(table);
}

const LISTS = `
blocking:
  denylists:
    ads: ["ads.example\\n"]
    kids: ["games.example\\n"]
`;

describe('imported clients of blocky', () => {
  test('do not get the default lists if their key has no groups', async () => {
    await expectAnswers(`${LISTS}  clientGroupsBlock: {default: [ads], 127.0.0.60: [], tv: [kids]}\n`, [
      ['127.0.0.60', 'ads.example', 1, 'BLOCKED_LIST'],
      ['127.0.0.60', 'games.example', 1, 'FORWARDED'],
    ]);
  });

  test('are found by names in local records and hosts files, and by parts of addresses', async () => {
    const file = `${LISTS}  clientGroupsBlock: {default: [ads], TV.lan: [kids], "192.0.2.*": [kids], desk*: [kids]}
customDNS: {mapping: {tv.lan: "198.51.100.5,2001:db8::5"}, zone: "desk1.lan. 60 IN A 198.51.100.6\\n"}
hostsFile: {sources: ["198.51.100.7 desk2 old\\n198.51.100.5 desk3\\n"]}
`;
    await expectAnswers(file, [
      ['198.51.100.5', 'games.example', 1, 'BLOCKED_LIST'],
      ['198.51.100.5', 'ads.example', 1, 'FORWARDED'],
      ['2001:db8::5', 'games.example', 1, 'BLOCKED_LIST'],
      ['198.51.100.6', 'games.example', 1, 'BLOCKED_LIST'],
      ['198.51.100.7', 'games.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.77', 'games.example', 1, 'BLOCKED_LIST'],
      ['198.51.100.8', 'games.example', 1, 'FORWARDED'],
    ]);
  });

  test('include every client if the key is an asterisk', async () => {
    await expectAnswers(`${LISTS}  clientGroupsBlock: {"*": [ads], 192.0.2.9: [kids]}\n`, [
      ['192.0.2.1', 'ads.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.9', 'ads.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.9', 'games.example', 1, 'BLOCKED_LIST'],
    ]);
  });

  test('are reported if only a DNS server can resolve their key', () => {
    const file = `${LISTS}  clientGroupsBlock: {default: [ads], tablet*: [kids], laptop: [kids], 192.0.2.1: [kids]}
clientLookup: {upstream: 192.0.2.1, singleNameOrder: [2, 1], clients: {tablet-a: [192.0.2.10]}}
`;
    expect(rowsOf(file, 'not_mapped')).toEqual({
      laptop: expect.stringContaining('these clients get the group Default'),
      'clientLookup.singleNameOrder': expect.any(String),
    });
    expect(rowsOf(file, 'differs')).toEqual({
      'tablet*': expect.stringContaining('only the clientLookup server knows'),
    });
    expect(planOf(file).document.configuration).toEqual({ 'dns.local_dns_server': '192.0.2.1:53' });
  });
});

describe('imported names of blocky', () => {
  test('include names below records of the zone and the mapping, and private domains are not forwarded', async () => {
    const file = `
customDNS:
  mapping: {nas.lan: 192.0.2.5}
  zone: |
    $ORIGIN home.example.
    www 60 IN A 192.0.2.80
  rewrite: {house.example: lan}
conditional: {mapping: {corp: 192.0.2.1, iot.lan: 192.0.2.1}}
`;
    await expectAnswers(file, [
      ['192.0.2.1', 'www.home.example', 1, 'LOCAL'],
      ['192.0.2.1', 'a.www.home.example', 1, 'LOCAL'],
      ['192.0.2.1', 'b.a.nas.lan', 28, 'LOCAL'],
      ['192.0.2.1', 'nas.house.example', 1, 'LOCAL'],
      ['192.0.2.1', 'other.house.example', 1, 'FORWARDED'],
      ['192.0.2.1', 'else.lan', 1, 'LOCAL'],
      ['192.0.2.1', 'x.home', 1, 'LOCAL'],
      ['192.0.2.1', 'x.internal', 28, 'LOCAL'],
      ['192.0.2.1', 'x.corp', 1, 'FORWARDED'],
      ['192.0.2.1', 'x.iot.lan', 1, 'FORWARDED'],
    ]);
    expect(rowsOf(file, 'differs')).toEqual({
      'customDNS.rewrite house.example: lan': expect.stringContaining('no other names are rewritten'),
    });
  });

  test.each(['{enable: false}', '{rfc6762-appendixG: false}'])(
    'include private domains, which are forwarded with specialUseDomains %s',
    (off) => {
      expect(planOf(`specialUseDomains: ${off}\nblocking: {}\n`).document.forward_zones).toEqual([]);
    },
  );

  test('are reported, but create no record, if they contain an asterisk', () => {
    expect(
      rowsOf('customDNS: {mapping: {"*.wild.example": 192.0.2.1, odd.example: nowhere}}\n', 'not_mapped'),
    ).toEqual({
      '*.wild.example 192.0.2.1': expect.stringContaining('it matches nothing in blocky'),
      'odd.example nowhere': 'its value is not an address',
    });
  });

  test('with a single label are not answered if fqdnOnly is enabled', () => {
    const file = `fqdnOnly: {enable: true}
customDNS: {mapping: {nas: 192.0.2.1, nas.lan: 192.0.2.1}}
hostsFile: {sources: ["192.0.2.2 tablet tablet.lan\\n"]}
`;
    expect(planOf(file).document.local_records.map(({ hostname }) => hostname)).toEqual([
      'nas',
      '*',
      'tablet',
    ]);
    expect(Object.keys(rowsOf(file, 'skipped'))).toEqual(['nas 192.0.2.1', 'tablet 192.0.2.2']);
    expect(rowsOf(file, 'differs')).toMatchObject({ fqdnOnly: 'Weir answers localhost itself' });
  });

  test('are reported if they share an address', () => {
    const rows = (mapping: string) => rowsOf(`customDNS: {mapping: {${mapping}}}\n`, 'differs');
    expect(rows('a.lan: 192.0.2.1, b.lan: 192.0.2.1, c.lan: 192.0.2.2')).toMatchObject({
      'addresses with several names':
        'blocky answers PTR queries for 192.0.2.1 with all names; Weir answers with the first',
    });
    expect(rows('a.lan: 192.0.2.1, c.lan: 192.0.2.2')).not.toHaveProperty('addresses with several names');
  });

  test('are kept for clients that have no entry in clientGroupsBlock', () => {
    const { clients } = planOf(
      `${LISTS}  clientGroupsBlock: {default: [ads]}\nclientLookup: {clients: {tv: [192.0.2.9, odd]}}\n`,
    ).document;
    expect(clients).toMatchObject([{ ip_address: '192.0.2.9', name: 'tv', group: null }]);
  });

  test('have a record for every address in a hosts file with its TTL; the last line of a name applies', () => {
    const file = `
customDNS: {mapping: {own.example: 192.0.2.1}, filterUnmappedTypes: false}
hostsFile:
  hostsTTL: 2m
  sources: ["127.0.0.1 localhost loop.hosts\\n0.0.0.0 sink.hosts\\n192.0.2.1 a.hosts\\n192.0.2.2 a.hosts\\n192.0.2.3 b.own.example\\nbad line\\n", /etc/gone]
`;
    const { local_records: records, managed_domains: denied } = planOf(file).document;
    expect(
      records.map(({ hostname, domain, value, ttl }) => `${hostname}.${domain} ${value} ${ttl}`),
    ).toEqual([
      'own.example 192.0.2.1 3600',
      '*.own.example 192.0.2.1 3600',
      'loop.hosts 127.0.0.1 120',
      'sink.hosts 0.0.0.0 120',
      'a.hosts 192.0.2.2 120',
    ]);
    expect(denied).toEqual([]);
    expect(rowsOf(file, 'differs')).toEqual({
      'customDNS.filterUnmappedTypes': expect.any(String),
      'names of hosts files': expect.any(String),
    });
    expect(Object.keys(rowsOf(file, 'not_mapped'))).toEqual(['hosts file /etc/gone', 'hosts files: 1 line']);
    expect(planOf(file.replace('hostsTTL: 2m', 'filterLoopback: true')).document.local_records).toHaveLength(
      4,
    );
  });
});

describe('imported settings of blocky', () => {
  test.each([
    ['queryLog: {type: none}', { 'database.log_queries': false }],
    ['queryLog: {fields: [question, duration]}', { 'database.query_log_privacy': 'anonymous_clients' }],
    ['queryLog: {fields: [clientIP, question]}', { 'database.query_log_privacy': 'no_answers' }],
    [
      'queryLog: {ignore: {domains: [a.example, "*.b.example", /c/]}}',
      { 'database.log_excluded_domains': ['a.example', 'b.example'] },
    ],
    [
      'rebindingProtection: {enable: true, allowedDomains: [ts.example]}',
      { 'dns.rebinding_protection': true, 'dns.rebinding_allowlist': ['ts.example'] },
    ],
    [
      'rateLimit: {enable: true, rate: 20, ipv6Prefix: 56, allowlist: [192.0.2.0/24]}',
      {
        'dns.rate_limit.enabled': true,
        'dns.rate_limit.queries_per_second': 20,
        'dns.rate_limit.burst_size': 40,
        'dns.rate_limit.ipv4_prefix_len': 32,
        'dns.rate_limit.ipv6_prefix_len': 56,
        'dns.rate_limit.whitelist': ['192.0.2.0/24'],
      },
    ],
    ['rateLimit: {rate: 20}', {}],
    ['dnssec: {validate: true}', { 'dns.dnssec_enabled': true }],
    ['ecs: {forward: true}', { 'dns.ecs': 'forward' }],
    ['specialUseDomains: {enable: false}', { 'dns.special_names': false, 'dns.block_private_ptr': false }],
  ])('are mapped from %s', (line, keys) => {
    expect(keysOf(line)).toEqual(keys);
  });

  test('are reported if they are enabled and have no equivalent', () => {
    const file = `
customDNS: {fallbackUpstream: true}
conditional: {fallbackUpstream: true, mapping: {a.example: 192.0.2.1}}
caching: {exclude: [/a/], prefetching: true}
ecs: {useAsClient: true, ipv4Mask: 24}
dns64: {enable: false}
queryLog: {ignore: {sudn: true, domains: [/c/]}}
ports: {dns: 53, tls: 853}
blocking: {schedules: {evening: {}, unused: {}}, listSchedules: {ads: [evening]}, nonsense: 1}
newThing: 1
`;
    expect(Object.keys(rowsOf(file, 'not_mapped'))).toEqual([
      'queryLog.ignore.domains /c/',
      'customDNS.fallbackUpstream',
      'conditional.fallbackUpstream',
      'caching.exclude',
      'ecs.useAsClient',
      'ecs.ipv4Mask',
      'ports.tls',
      'blocking.nonsense',
      'newThing',
    ]);
    expect(Object.keys(rowsOf(file, 'skipped'))).toEqual([
      'caching.prefetching',
      'dns64.enable',
      'ports.dns',
      'blocking.schedules unused',
    ]);
    expect(Object.keys(rowsOf(file, 'differs'))).toEqual([
      'queryLog.ignore.sudn',
      'blocking.listSchedules ads',
    ]);
  });

  test('cause empty answers to queries of filtered types', async () => {
    await expectAnswers('filtering: {queryTypes: [HTTPS]}\nblocking: {}\n', [
      ['192.0.2.1', 'any.example', 65, 'BLOCKED_LIST'],
      ['192.0.2.1', 'any.example', 1, 'FORWARDED'],
    ]);
  });

  test('are reported if they are lists whose names are in the file itself', async () => {
    const report = await imported(`${LISTS}  clientGroupsBlock: {default: [ads]}\n`);
    expect(Object.keys(itemsOf(report, 'blocklist'))).toEqual(['ads (own names)', 'kids (own names)']);
  });
});
