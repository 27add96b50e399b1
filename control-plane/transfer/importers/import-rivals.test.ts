/** Exports of other programs: the counts of the report, and whether the same queries get the same answers. */
import { describe, expect, test } from '@jest/globals';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { type ExpectedStatus, importSuite, itemsOf } from '../../../test/support/parts/import-suite.ts';
import { readText } from '../../storage/cluster/blob-store.ts';
import { listSources } from '../../lists/sources/source-store.ts';
import { deleteBlockingSwitch, readBlockingSwitch } from '../../filtering/schedules/blocking-switch-store.ts';
import * as adguard from '../../../test/support/weir/adguard-exports.ts';
import * as blocky from '../../../test/support/weir/blocky-exports.ts';
import * as dnsmasq from '../../../test/support/weir/dnsmasq-exports.ts';
import * as profiles from '../../../test/support/weir/profile-exports.ts';
import { zipOf } from '../../../test/support/parts/made-archives.ts';
import * as technitium from '../../../test/support/weir/technitium-exports.ts';

const { suite, folder, imported, answered } = importSuite();

/** Names of items without an equivalent, except settings that are offered but not selected. */
function notMapped({ items }: ImportReport): string[] {
  const isKey = (reason: string | null): boolean => reason?.startsWith('not selected: ') === true;
  return items.flatMap(({ name, result, reason }) =>
    result === 'not_mapped' && !isKey(reason) ? [name] : [],
  );
}

/** Expects that importing the same file a second time changes nothing. */
async function expectRepeatable(file: Uint8Array | string): Promise<void> {
  expect(await imported(file)).toMatchObject({ revision: null, counts: { done: 0, changed: 0 } });
}

describe('POST {api}/import of AdGuard Home', () => {
  test('answers as AdGuard Home with schema 34 did, client by client', async () => {
    const report = await imported(adguard.schema34());
    expect(await answered(adguard.ANSWERS_34, adguard.LIST_TEXTS)).toEqual(adguard.ANSWERS_34);
    expect(report).toMatchObject({
      format: 'adguard_home',
      counts: { done: 48, changed: 10, skipped: 10, not_mapped: 17 },
    });
    expect(notMapped(report)).toEqual(adguard.NOT_MAPPED_34);
    expect(report.items.flatMap(({ name, result }) => (result === 'differs' ? [name] : []))).toEqual(
      adguard.DIFFERS_34,
    );
    expect(report.configuration).toContain('strategy = "Parallel"\npriority = 1\nservers = ["https://dns.ex');
    expect(report.configuration).toContain('[cache]\nmax_bytes = ');
    expect(report.configuration).toContain('blocked_clients = ["192.0.2.66/32"]\n');
    expect(JSON.stringify(report)).not.toMatch(/hunter2|PRIVATE KEY/);
    await expectRepeatable(adguard.schema34());
  });

  test('blocks services at the same times, and refuses the same hosts, as AdGuard Home did', async () => {
    const report = await imported(adguard.TIMED);
    expect(await answered(adguard.ANSWERS_TIMED, adguard.LIST_TEXTS)).toEqual(adguard.ANSWERS_TIMED);
    expect(itemsOf(report, 'setting')).toEqual({
      'local_domain_name lan': "skipped: it belongs to AdGuard Home's DHCP server, which is disabled",
    });
    await expectRepeatable(adguard.TIMED);
  });

  test('pauses blocking until the same time, but not in a dry run', async () => {
    const { database } = suite();
    await imported(adguard.PAUSED, '?dry_run=true');
    expect(await readBlockingSwitch(database)).toBeNull();
    try {
      const report = await imported(adguard.PAUSED);
      expect(itemsOf(report, 'setting')).toEqual({
        'protection_disabled_until 2999-01-01T00:00:00.000Z': 'changed: blocking is paused until then',
      });
      expect(await readBlockingSwitch(database)).toEqual({
        enabled: false,
        until: new Date('2999-01-01T00:00:00Z'),
      });
      expect((await database.query(`SELECT 1 FROM audit_log WHERE subject = 'blocking'`)).rows).toHaveLength(
        1,
      );
      await expectRepeatable(adguard.PAUSED);
    } finally {
      await deleteBlockingSwitch(database);
    }
  });

  test('keeps in a single list the rules that affect each other', async () => {
    const report = await imported(adguard.TANGLED);
    const table: ExpectedStatus[] = [
      ['192.0.2.1', 'denied.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'good.denied.example', 1, 'FORWARDED'],
      ['192.0.2.1', 'never.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'good.hosts.example', 1, 'FORWARDED'],
      ['192.0.2.1', 'bad.hosts.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'back.example', 1, 'FORWARDED'],
    ];
    expect(await answered(table)).toEqual(table);
    expect(itemsOf(report, 'managed_domain')).toEqual({});
    expect(report.configuration).toContain('[blocking]\nenabled = false\nmode = "custom_ip"\n');
    await expectRepeatable(adguard.TANGLED);
  });

  test('reads older schemas', async () => {
    const report = await imported(adguard.schema12());
    expect(itemsOf(report, 'safe_search')).toMatchObject({ google: 'done', youtube: 'done', bing: 'done' });
    expect(itemsOf(report, 'service')).toEqual({ tiktok: 'done' });
    const table: ExpectedStatus[] = [
      ['192.0.2.31', 'denied.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.31', 'nas.lan', 1, 'LOCAL'],
      ['192.0.2.31', 'tiktok.com', 1, 'BLOCKED_SERVICE'],
    ];
    expect(await answered(table)).toEqual(table);
    const later = await imported(adguard.SCHEMA_20);
    expect(itemsOf(later, 'safe_search')).toEqual({
      google: 'skipped: already in Weir',
      'bing (AdGuard Home: Phone)': 'done',
    });
  });
});

describe('POST {api}/import of blocky', () => {
  test('answers as blocky 0.34 did, client by client', async () => {
    const report = await imported(blocky.folder());
    expect(await answered(blocky.ANSWERS, blocky.LIST_TEXTS)).toEqual(blocky.ANSWERS);
    expect(report).toMatchObject({ format: 'blocky', counts: { done: 44, changed: 8, skipped: 4 } });
    expect(notMapped(report)).toEqual(blocky.NOT_MAPPED);
    expect(report.configuration).toContain('strategy = "Failover"\n');
    expect(JSON.stringify(report)).not.toContain('hunter2');
    await expectRepeatable(blocky.folder());
  });

  test('reads older configuration keys', async () => {
    const report = await imported(blocky.OLD_KEYS);
    const table: ExpectedStatus[] = [
      ['192.0.2.1', 'denied.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'fine.example', 1, 'FORWARDED'],
    ];
    expect(await answered(table)).toEqual(table);
    expect(report.configuration).toContain('mode = "custom_ip"\ncustom_ipv4 = "192.0.2.80"\n');
    expect(report.configuration).toContain('ttl_secs = 60\nlist_refresh_hours = 2\n');
  });
});

describe('POST {api}/import of dnsmasq', () => {
  test('makes Weir answer as dnsmasq did', async () => {
    const report = await imported(dnsmasq.folder());
    expect(await answered(dnsmasq.ANSWERS)).toEqual(dnsmasq.ANSWERS);
    expect(report).toMatchObject({ format: 'dnsmasq', counts: { done: 25, changed: 3, skipped: 4 } });
    expect(notMapped(report)).toEqual(dnsmasq.NOT_MAPPED);
    await expectRepeatable(dnsmasq.folder());
  });

  test('creates a list from thousands of names, and records from a hosts file', async () => {
    const many = await imported(dnsmasq.MANY_NAMES);
    expect(itemsOf(many, 'list_rule')).toEqual({
      '2500 names': expect.stringContaining('done: more than 2000'),
    });
    const hosts = await imported(dnsmasq.HOSTS);
    expect(hosts.format).toBe('hosts');
    const table: ExpectedStatus[] = [
      ['192.0.2.1', 'www.ads2499.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'nas.lan', 1, 'LOCAL'],
      ['192.0.2.1', 'ads.example', 1, 'BLOCKED_MANAGED'],
      ['192.0.2.1', 'www.ads.example', 1, 'FORWARDED'],
    ];
    expect(await answered(table)).toEqual(table);
  });

  test('keeps custom rules in the database, and changes their text at the next import', async () => {
    await imported(dnsmasq.MANY_NAMES);
    const [before] = await listSources(suite().database, 'block');
    expect(before).toMatchObject({ has_text: true, url: 'text:dnsmasq-rules', isKept: true, status: 'ok' });
    expect(await readText(suite().database, before!.contentKey!)).toContain('||ads2499.example^\n');
    await expectRepeatable(dnsmasq.MANY_NAMES);
    expect(await imported(`${dnsmasq.MANY_NAMES}address=/one.more.example/\n`)).toMatchObject({
      counts: { done: 0, changed: 1 },
    });
    const [after] = await listSources(suite().database, 'block');
    expect(await readText(suite().database, after!.contentKey!)).toContain('||one.more.example^\n');
  });

  test('stores which node wrote a list file, and writes a deleted list file again', async () => {
    await imported(blocky.folder());
    const isFile = ({ url }: { readonly url: string }): boolean => url.startsWith('file:');
    const files = (await listSources(suite().database)).filter(isFile);
    expect(new Set(files.map(({ file_node: node }) => node))).toEqual(new Set(['node-a']));
    const lists = join(folder(), 'lists');
    const [name] = await readdir(lists);
    const path = join(lists, name!);
    const before = await readFile(path, 'utf8');
    await rm(path);
    expect(await imported(blocky.folder())).toMatchObject({ counts: { done: 0, changed: 1 } });
    expect(await readFile(path, 'utf8')).toBe(before);
    await expectRepeatable(blocky.folder());
  });

  test('stores thousands of rows and their duplicates once, and nothing when it is repeated', async () => {
    const mac = (place: number): string => `02:00:00:00:${Buffer.from([place >> 8, place]).toString('hex')}`;
    const lines = Array.from({ length: 1100 }, (_, place) => [
      `host-record=n${place}.example.org,192.0.2.${place % 250}`,
      `server=/z${place}.example.org/192.0.2.1`,
      `dhcp-host=${mac(place).replace(/(..)$/, ':$1')},192.0.2.${place % 250},name${place}`,
    ]).flat();
    const file = `no-resolv\n${[...lines, ...lines.slice(0, 30)].join('\n')}\n`;
    expect(await imported(file)).toMatchObject({ format: 'dnsmasq', counts: { changed: 0, not_mapped: 0 } });
    const { rows } = await suite().database.query<Record<string, unknown>>(
      `SELECT (SELECT count(*)::integer FROM local_records WHERE fqdn LIKE 'n%.example.org') AS records,
         (SELECT count(*)::integer FROM forward_zones WHERE servers = '{192.0.2.1}') AS zones,
         (SELECT count(DISTINCT name)::integer FROM clients WHERE name LIKE 'name%') AS clients,
         (SELECT array_agg(fqdn ORDER BY id) FROM (SELECT * FROM local_records ORDER BY id LIMIT 2) first) AS first`,
    );
    expect(rows[0]).toEqual({
      ...{ records: 1100, zones: 1100, clients: 1100 },
      first: ['n0.example.org', 'n1.example.org'],
    });
    expect(await imported(file)).toMatchObject({ revision: null, counts: { done: 0, changed: 0 } });
  });
});

describe('POST {api}/import of Technitium DNS Server', () => {
  test('answers as Technitium DNS Server 15 did, client by client', async () => {
    const report = await imported(technitium.version15());
    expect(await answered(technitium.ANSWERS, technitium.LIST_TEXTS)).toEqual(technitium.ANSWERS);
    expect(report).toMatchObject({ format: 'technitium', counts: { done: 22, changed: 6, skipped: 9 } });
    expect(notMapped(report)).toEqual(technitium.NOT_MAPPED);
    expect(report.configuration).toContain(
      'servers = ["tls://dns.example.org:853@192.0.2.9", "tls://192.0.2.53"]',
    );
    expect(JSON.stringify(report)).not.toMatch(/hunter2|c2VjcmV0/);
    await expectRepeatable(technitium.version15());
  });

  test('answers imported zones locally, and does not forward their names', async () => {
    const zone = '@ IN SOA ns admin 1 2 3 4 5\nnas IN A 192.0.2.5\nsub IN FWD Udp 192.0.2.1\n';
    await imported(zipOf({ 'dns.config': 'x', 'zones/in.example.txt': zone }));
    const table: ExpectedStatus[] = [
      ['192.0.2.1', 'nas.in.example', 1, 'LOCAL'],
      ['192.0.2.1', 'other.in.example', 1, 'LOCAL'],
      ['192.0.2.1', 'x.sub.in.example', 1, 'FORWARDED'],
    ];
    expect(await answered(table)).toEqual(table);
  });

  test('recognizes an export that contains only the app Advanced Blocking', async () => {
    const app = JSON.stringify({
      networkGroupMap: { '0.0.0.0/0': 'all' },
      groups: [{ name: 'all', blocked: ['a.example'] }],
    });
    const report = await imported(zipOf({ 'apps/Advanced Blocking/dnsApp.config': app }));
    expect(report.format).toBe('technitium');
    expect(itemsOf(report, 'managed_domain')).toEqual({ '*.a.example': 'done' });
  });

  test('reads the parts of a version 13 export that are not in binary format', async () => {
    const report = await imported(technitium.version13());
    expect(itemsOf(report, 'managed_domain')).toMatchObject({ '*.denied.example': 'done' });
    expect(notMapped(report)).toEqual(['zone home.example', 'dns.config']);
  });
});

describe('POST {api}/import of a profile of a cloud service', () => {
  test('answers as a profile of NextDNS did', async () => {
    const report = await imported(profiles.NEXTDNS);
    expect(await answered(profiles.NEXTDNS_ANSWERS)).toEqual(profiles.NEXTDNS_ANSWERS);
    expect(report).toMatchObject({ format: 'nextdns', counts: { done: 18, changed: 4, skipped: 4 } });
    expect(itemsOf(report, 'safe_search')).toMatchObject({ google: 'done', bing: 'done' });
    expect(notMapped(report)).toEqual(profiles.NEXTDNS_NOT_MAPPED);
    expect(report.configuration).toContain(
      '[database]\nquery_log_days = 90\nquery_log_privacy = "anonymous_clients"\n',
    );
    expect(itemsOf(report, 'blocklist')).toEqual({
      'https://big.oisd.nl': 'done: fetched in the background',
      unknown: 'not_mapped: Weir does not know the URL of this list',
    });
    await expectRepeatable(profiles.NEXTDNS);
  });

  test('answers as a folder of Control D did', async () => {
    const report = await imported(profiles.CONTROLD);
    expect(await answered(profiles.CONTROLD_ANSWERS)).toEqual(profiles.CONTROLD_ANSWERS);
    expect(report.format).toBe('controld');
    expect(notMapped(report)).toEqual(['proxied.example', 'odd.example']);
  });
});
