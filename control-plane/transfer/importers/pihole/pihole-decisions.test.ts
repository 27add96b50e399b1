/** Compares decisions with those of a Pi-hole for the same queries, after an import: a real database and pipeline. */
import { describe, expect, test } from '@jest/globals';
import { type ExpectedStatus, importSuite, itemsOf } from '../../../../test/support/parts/import-suite.ts';
import { importedPolicy } from '../../../../test/support/parts/imported-policy.ts';
import { sqliteOf, zipOf } from '../../../../test/support/parts/made-archives.ts';

const { suite, imported } = importSuite();

const ALLOWED_URL = 'https://lists.example.org/allowed.txt';
const BLOCKED_URL = 'https://lists.example.org/blocked.txt';
const LISTS = {
  [ALLOWED_URL]: 'ok.rex.example\nb.conv.example\ndenied.example\nlisted.example\n',
  [BLOCKED_URL]: 'listed.example\nads.example\n@@||lifted.rex.example^\n',
};
const CLIENT = '192.0.2.1';

/** A zip with these domains, all in the default group, and with these settings. */
function exported(
  domains: readonly (readonly [type: number, domain: string])[],
  { toml = '[dns]\n', hasAllowlist = true }: { toml?: string; hasAllowlist?: boolean } = {},
): Buffer {
  const rows = domains.map(([type, domain], id) => `(${id}, ${type}, '${domain.replaceAll("'", "''")}', 1)`);
  return zipOf({
    'etc/pihole/pihole.toml': toml,
    'etc/pihole/gravity.db': sqliteOf(`
      CREATE TABLE "group" (id INTEGER, enabled BOOLEAN, name TEXT, description TEXT);
      INSERT INTO "group" VALUES (0, 1, 'Default', NULL);
      CREATE TABLE adlist (id INTEGER, address TEXT, enabled BOOLEAN, comment TEXT, type INTEGER);
      INSERT INTO adlist VALUES (1, '${ALLOWED_URL}', ${hasAllowlist ? 1 : 0}, NULL, 1), (2, '${BLOCKED_URL}', 1, NULL, 0);
      CREATE TABLE adlist_by_group (adlist_id INTEGER, group_id INTEGER);
      INSERT INTO adlist_by_group VALUES (1, 0), (2, 0);
      CREATE TABLE domainlist (id INTEGER, type INTEGER, domain TEXT, enabled BOOLEAN);
      INSERT INTO domainlist VALUES ${rows.join(', ')};
      CREATE TABLE domainlist_by_group (domainlist_id INTEGER, group_id INTEGER);
      INSERT INTO domainlist_by_group SELECT id, 0 FROM domainlist;`),
  });
}

/** The rows with the status in Weir. */
async function answered(table: readonly ExpectedStatus[]): Promise<ExpectedStatus[]> {
  const ask = await importedPolicy(suite().database, LISTS);
  return table.map(([client, name, qtype]) => [client, name, qtype, ask(client, name, qtype).status]);
}

describe('POST {api}/import of Pi-hole, compared by queries', () => {
  test('prefers allowlists to regex denies and blocklists, but exact denies to allowlists', async () => {
    await imported(
      exported([
        [3, 'rex'],
        [3, '(\\.|^)conv\\.example$'],
        [1, 'denied.example'],
        [3, '^typed\\.;querytype=AAAA'],
      ]),
    );
    const table: ExpectedStatus[] = [
      [CLIENT, 'ok.rex.example', 1, 'FORWARDED'],
      [CLIENT, 'no.rex.example', 1, 'BLOCKED_LIST'],
      [CLIENT, 'lifted.rex.example', 1, 'BLOCKED_LIST'],
      [CLIENT, 'b.conv.example', 1, 'FORWARDED'],
      [CLIENT, 'conv.example', 1, 'BLOCKED_LIST'],
      [CLIENT, 'a.conv.example', 1, 'BLOCKED_LIST'],
      [CLIENT, 'denied.example', 1, 'BLOCKED_MANAGED'],
      [CLIENT, 'listed.example', 1, 'FORWARDED'],
      [CLIENT, 'ads.example', 1, 'BLOCKED_LIST'],
      [CLIENT, 'typed.example', 1, 'FORWARDED'],
      [CLIENT, 'typed.example', 28, 'BLOCKED_LIST'],
    ];
    expect(await answered(table)).toEqual(table);
  });

  test('prefers a regex allow to an exact deny, a regex deny and a blocklist', async () => {
    await imported(
      exported(
        [
          [2, '^good\\.'],
          [1, 'good.example'],
          [1, 'bad.example'],
          [3, '(\\.|^)example\\.net$'],
          [3, '^ad[0-9]{,2}\\.'],
          [2, '^six\\.;querytype=AAAA'],
          [1, 'six.example'],
        ],
        { hasAllowlist: false },
      ),
    );
    const table: ExpectedStatus[] = [
      [CLIENT, 'good.example', 1, 'FORWARDED'],
      [CLIENT, 'bad.example', 1, 'BLOCKED_MANAGED'],
      [CLIENT, 'good.example.net', 1, 'FORWARDED'],
      [CLIENT, 'www.example.net', 1, 'BLOCKED_REGEX'],
      [CLIENT, 'ad123.example', 1, 'BLOCKED_REGEX'],
      [CLIENT, 'ad1234.example', 1, 'FORWARDED'],
      [CLIENT, 'six.example', 28, 'FORWARDED'],
      [CLIENT, 'six.example', 1, 'BLOCKED_REGEX'],
    ];
    expect(await answered(table)).toEqual(table);
  });

  test('answers with both addresses of a regex rule that has two reply options', async () => {
    await imported(exported([[3, '^x\\.;reply=10.9.8.7;reply=fd00::7']], { hasAllowlist: false }));
    const ask = await importedPolicy(suite().database, LISTS);
    expect([ask(CLIENT, 'x.example', 1).answer, ask(CLIENT, 'x.example', 28).answer]).toEqual([
      { rcode: 'NOERROR', answers: [['A', '10.9.8.7']] },
      { rcode: 'NOERROR', answers: [['AAAA', 'fd00::7']] },
    ]);
  });

  test('answers names of the machine itself, and does not forward names of the local domain', async () => {
    const toml =
      '[dns]\nhosts = ["127.0.0.1 pihole", "192.168.1.9 other", "0.0.0.0 sink.example"]\nexpandHosts = true\n' +
      'hostRecord = "myhost,192.168.1.77"\nrevServers = ["true,192.168.50.0/24,192.168.50.1,branch.lan"]\n[dns.domain]\nname = "lan"\nlocal = true\n';
    await imported(exported([[1, 'other.lan']], { toml }));
    const ask = await importedPolicy(suite().database, LISTS);
    const answers = ['pihole', 'pihole.lan', 'other', 'other.lan', 'myhost'].map(
      (name) => (ask(CLIENT, name).answer as { answers: unknown[] }).answers,
    );
    expect(answers).toEqual([
      [['A', '127.0.0.1']],
      [['A', '127.0.0.1']],
      [['A', '192.168.1.9']],
      [['A', '192.168.1.9']],
      [['A', '192.168.1.77']],
    ]);
    const nothing = { rcode: 'NXDOMAIN', answers: [] };
    expect(ask(CLIENT, 'lan', 1).answer).toEqual({ rcode: 'NOERROR', answers: [] });
    expect(ask(CLIENT, 'x.branch.lan', 1).status).toBe('FORWARDED');
    expect(ask(CLIENT, 'nothere.lan', 1).answer).toEqual(nothing);
    expect(ask(CLIENT, '_sip._udp.lan', 33).answer).toEqual(nothing);
    expect(ask(CLIENT, 'other.lan', 28).answer).toEqual({ rcode: 'NOERROR', answers: [] });
    expect(ask(CLIENT, 'sink.example').status).toBe('BLOCKED_MANAGED');
  });

  test.each([
    [true, 'changed'],
    [false, 'skipped: already in Weir'],
  ])('reports the effect of domainNeeded = %s in Weir', async (isNeeded, result) => {
    const report = await imported(
      exported([[1, 'a.example']], { toml: `[dns]\ndomainNeeded = ${isNeeded}\n` }),
    );
    expect(itemsOf(report, 'setting')).toEqual({ 'dns.domainNeeded': result });
  });

  test.each([
    ['a bare pihole.toml', (toml: string): Buffer => Buffer.from(toml)],
    [
      'a zip file that contains only pihole.toml',
      (toml: string): Buffer => zipOf({ 'etc/pihole/pihole.toml': toml }),
    ],
  ])('imports %s, and reports what the file does not contain', async (_what, fileOf) => {
    const toml = '# Pi-hole configuration file (v6.4)\n[dns]\nhosts = ["192.0.2.5 nas.lan"]\n';
    const report = await imported(fileOf(toml));
    expect(report.format).toBe('pihole');
    expect(itemsOf(report, 'local_record')).toEqual({ 'nas.lan 192.0.2.5': 'done' });
    expect(itemsOf(report, 'other')).toMatchObject({
      'gravity.db': 'not_mapped: it is not in the upload: it contains groups, clients, lists and domains',
    });
  });
});
