/** `{api}/import` over real HTTP and PostgreSQL; a real pipeline then answers queries with the imported policy. */
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { writeContent } from '../../lists/sources/source-records.ts';
import { listSources, readSource } from '../../lists/sources/source-store.ts';
import { PolicyChanges } from '../../policy/change/change.ts';
import { rollBack } from '../revisions/rollback.ts';
import { importSuite, itemsOf } from '../../../test/support/parts/import-suite.ts';
import { type Outcome, importedPolicy } from '../../../test/support/parts/imported-policy.ts';
import { zipOf } from '../../../test/support/parts/made-archives.ts';
import * as pihole from '../../../test/support/weir/pihole-exports.ts';

const { suite, folder, post, imported } = importSuite();

/** Every row that an import may write, without ids and times. */
async function stored(): Promise<unknown> {
  const { rows } = await suite().database.query<{ all: unknown }>(`SELECT json_build_object(
    'groups', (SELECT json_agg(name ORDER BY name) FROM groups),
    'sources', (SELECT json_agg(url ORDER BY url) FROM list_sources),
    'rules', (SELECT json_agg(domain ORDER BY domain) FROM managed_domains),
    'clients', (SELECT json_agg(name ORDER BY name) FROM clients)) AS all`);
  return rows[0]!.all;
}

const FORWARDED = 'FORWARDED';
const TESTER = { name: 'tester', address: null };

describe('POST {api}/import of Pi-hole', () => {
  test('answers as Pi-hole 6 did, client by client', async () => {
    const report = await imported(pihole.version6());
    expect(report).toMatchObject({ format: 'pihole', dry_run: false, revision: expect.any(Number) });
    const ask = await importedPolicy(suite().database, pihole.LIST_TEXTS);
    const [anyone, tablet, guest, unfiltered, both, old] = [
      '192.0.2.200',
      '192.0.2.10',
      '192.0.2.65',
      '192.0.2.20',
      '192.0.2.30',
      '192.0.2.40',
    ] as const;
    const table: readonly (readonly [client: string, name: string, qtype: number, status: string])[] = [
      [anyone, 'ads.example', 1, 'BLOCKED_LIST'],
      [anyone, 'fine.ads.example', 1, FORWARDED],
      [anyone, 'allowed.ads.example', 1, FORWARDED],
      [anyone, 'denied.example', 1, 'BLOCKED_MANAGED'],
      [anyone, 'www.denied.example', 1, FORWARDED],
      [anyone, 'off.example', 1, FORWARDED],
      [anyone, 'wild.example', 1, 'BLOCKED_LIST'],
      [anyone, 'a.wild.example', 1, 'BLOCKED_LIST'],
      [anyone, 'ad1234.example.com', 1, 'BLOCKED_LIST'],
      [anyone, 'ad12345.example.com', 1, FORWARDED],
      [anyone, 'aaaa.example', 28, 'BLOCKED_LIST'],
      [anyone, 'aaaa.example', 1, FORWARDED],
      [anyone, 'gone.example', 1, 'BLOCKED_LIST'],
      [anyone, 'to.example', 1, 'LOCAL'],
      [anyone, 'nodata.example', 28, 'BLOCKED_LIST'],
      [anyone, 'nodata.example', 1, FORWARDED],
      [anyone, 'games.example', 1, FORWARDED],
      [anyone, 'guest.example', 1, FORWARDED],
      [anyone, 'nowhere.example', 1, FORWARDED],
      [tablet, 'games.example', 1, 'BLOCKED_LIST'],
      [tablet, 'fine.ads.example', 1, 'BLOCKED_LIST'],
      [tablet, 'wild.example', 1, FORWARDED],
      [guest, 'guest.example', 1, 'BLOCKED_MANAGED'],
      [guest, 'ads.example', 1, FORWARDED],
      [both, 'guest.example', 1, 'BLOCKED_MANAGED'],
      [both, 'games.example', 1, 'BLOCKED_LIST'],
      [both, 'denied.example', 1, 'BLOCKED_MANAGED'],
      [unfiltered, 'ads.example', 1, FORWARDED],
      [old, 'denied.example', 1, FORWARDED],
      [anyone, 'nas.lan', 1, 'LOCAL'],
      [anyone, 'nas.lan', 28, 'LOCAL'],
      [anyone, 'files.lan', 1, 'LOCAL'],
    ];
    const answers = table.map(([client, name, qtype]) => [
      client,
      name,
      qtype,
      ask(client, name, qtype).status,
    ]);
    expect(answers).toEqual(table.map((row) => [...row]));
    const reasons = ['gone.example', 'to.example', 'nas.lan'].map(
      (name): Outcome['answer'] => ask(anyone, name).answer,
    );
    expect(reasons).toEqual([
      { rcode: 'NXDOMAIN', answers: [] },
      { rcode: 'NOERROR', answers: [['A', '192.0.2.99']] },
      { rcode: 'NOERROR', answers: [['A', '192.0.2.5']] },
    ]);
  });

  test('reports each item, with the reason if it has no equivalent, and no secrets', async () => {
    const report = await imported(pihole.version6());
    expect(itemsOf(report, 'group')).toEqual({
      Default: "skipped: it is Weir's group Default",
      Kids: 'done',
      Guests: 'done',
      Old: 'done: it is disabled: its clients are in a group that combines their other groups',
      'Guests + Kids': 'done: created for clients of 2 groups, because a client has one group in Weir',
      'Unfiltered (Pi-hole)': 'done: created for clients without an enabled group, which are not filtered',
    });
    expect(itemsOf(report, 'client')).toMatchObject({
      '192.0.2.10': 'done',
      'laptop.lan': 'done: identified by its MAC 02:00:5e:00:00:04 in Weir',
      ':eth0': 'not_mapped: Weir does not identify clients by interface',
      'unknown.lan':
        'not_mapped: Weir identifies clients by MAC or address, and the export has no device of this name',
      '02:00:5e:00:00:03':
        'differs: in Pi-hole its address puts it into Guests (192.0.2.64/26); in Weir its MAC puts it into Kids',
      'printer (lease)': 'done',
    });
    expect(itemsOf(report, 'blocklist')).toMatchObject({
      [pihole.ADS_URL]: 'done: fetched in the background',
      'https://lists.example.org/orphan.txt': 'done: it is in no group, so it is imported as disabled',
      'https://***@lists.example.org/private.txt':
        'not_mapped: its URL contains a secret, which is not imported: add the list manually',
    });
    expect(itemsOf(report, 'regex_filter')).toEqual({
      'inverted\\.example$;invert':
        'not_mapped: it denies; Weir does not support inverted regular expressions',
      '(a)\\1': 'not_mapped: it denies; it uses the back reference \\1, which takes exponential time',
      'no\\.example$;reply=NONE':
        'differs: it denies; Pi-hole does not answer, and Weir answers as for a blocked name',
      'x{~2}y': 'not_mapped: it denies; it uses approximate matching',
    });
    const inList = 'imported as a list rule, so that allowlists take precedence as in Pi-hole';
    expect(itemsOf(report, 'list_rule')).toMatchObject({
      '^ad[0-9]{,3}[.]': `done: ${inList}; written as ^ad[0-9]{0,4}[.]`,
      '\\<word': `done: ${inList}; written as \\bword`,
      'c\\.example$;reply=CNAME,d.example': `done: ${inList}`,
    });
    expect(itemsOf(report, 'forward_zone')).toEqual({
      ...{ '192.0.2.0/23': 'done', 'fritz.box': 'done' },
      ...Object.fromEntries(
        ['bind', 'internal', 'lan'].map((zone) => [
          `local=/${zone}/`,
          'done: answered by Weir, without servers',
        ]),
      ),
    });
    expect(itemsOf(report, 'setting')).toMatchObject({
      'dns.domain lan': 'changed',
      'dns.domainNeeded': 'changed',
    });
    expect(report.configuration).toContain('[[dns.pools]]\nname = "pihole"\n');
    expect(report.configuration).toContain('"192.0.2.53:5353", "127.0.0.1:5335", "2001:db8::53"');
    expect(report.configuration).toContain('[blocking]\nttl_secs = 2\nmode = "nxdomain"\n');
    expect(JSON.stringify(report)).not.toMatch(/hunter2|BALLOON|JBSWY|c2VjcmV0/);
    const { done, changed, skipped, not_mapped: notMapped } = report.counts;
    expect(done + changed + skipped + notMapped + report.counts.differs).toBe(report.items.length);
  });

  test('changes nothing when it is repeated, and nothing in a dry run', async () => {
    const empty = await stored();
    const tried = await imported(pihole.version6(), '?dry_run=true');
    expect([await stored(), await readdir(folder())]).toEqual([empty, []]);
    const first = await imported(pihole.version6());
    expect({ ...tried, dry_run: false, revision: first.revision }).toEqual(first);
    const after = await stored();
    const second = await imported(pihole.version6());
    expect(second).toMatchObject({ revision: null, counts: { done: 0, changed: 0 } });
    expect(await stored()).toEqual(after);
    const { rows } = await suite().database.query('SELECT 1 FROM revisions');
    expect(rows).toHaveLength(1);
  });

  test('is undone by a rollback, clients included, however often lists were updated since', async () => {
    const { database } = suite();
    const changes = new PolicyChanges(database, { apply: async () => undefined, threadsBehind: () => 0 });
    const { revision } = await changes.changeWithRevision(TESTER, async (tx) => {
      await tx.query(`INSERT INTO groups (name) VALUES ('before')`);
      await tx.query(`INSERT INTO clients (ip_address, name) VALUES ('192.0.2.10', 'tablet')`);
      const subject = codedSubject('group', { name: 'before' });
      return { result: null, summary: { subject, action: codedAction('created') } };
    });
    const empty = await stored();
    await imported(pihole.version6());
    const [list] = await listSources(database);
    for (let copy = 0; copy < 30; copy++) {
      const source = await readSource(database, list!.id);
      await changes.record((tx) =>
        writeContent(tx, source, { contentKey: `copy ${copy}` }, codedAction('updated')),
      );
    }
    const clients = new ClientDirectory();
    await rollBack(
      { database, policy: changes, clients, activateRestored: async () => undefined },
      revision!,
      TESTER,
    );
    expect(await stored()).toEqual(empty);
  });

  test('runs concurrent imports one after another, and refuses a fourth', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(pihole.liveGravity())));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 503]);
    const turnedAway = answers.find(({ status }) => status === 503)!;
    expect(Number(turnedAway.headers['retry-after'])).toBeGreaterThan(0);
    const reports = answers.flatMap(({ status, body }) => (status === 200 ? [body as ImportReport] : []));
    const made = reports.filter(({ revision }) => revision !== null);
    expect([made.length, made[0]!.counts.done > 0]).toEqual([1, true]);
    expect(await readdir(folder())).toEqual([]);
  });

  test('reads an archive of version 5, and a database that was copied while Pi-hole was running', async () => {
    const old = await imported(pihole.version5());
    const ask = await importedPolicy(suite().database, pihole.LIST_TEXTS);
    const names = [
      'ads.example',
      'allowed.ads.example',
      'denied.example',
      'a.wild.example',
      'nas.lan',
      'files.lan',
    ];
    expect(names.map((name) => ask('192.0.2.200', name).status)).toEqual([
      'BLOCKED_LIST',
      FORWARDED,
      'BLOCKED_MANAGED',
      'BLOCKED_MANAGED',
      'LOCAL',
      'LOCAL',
    ]);
    expect(ask('192.0.2.10', 'denied.example').status).toBe(FORWARDED);
    expect(itemsOf(old, 'forward_zone')).toEqual({ '192.0.2.0/24': 'done', 'fritz.box': 'done' });
    expect(JSON.stringify(old)).not.toContain('5e884898');
    const live = await imported(pihole.liveGravity());
    expect(itemsOf(live, 'subnet')).toEqual({ '192.0.2.64/26': 'done' });
    expect(itemsOf(live, 'managed_domain')).toMatchObject({
      'denied.example': 'done',
      'guest.example': 'done',
    });
  });
});

describe('POST {api}/import of an invalid file', () => {
  test.each<[string, Uint8Array | string, string]>([
    ['text', 'hello', 'Weir does not recognise which program the file is from'],
    ['a truncated zip file', pihole.version6().subarray(0, 2000), 'the zip file is damaged'],
    [
      'a zip bomb',
      zipOf({ 'pihole.toml': 'a' }, { claimedBytes: 300 * 1024 * 1024 }),
      'the unpacked zip file is too large',
    ],
    ['YAML with a circular reference', 'schema_version: 34\ndns: &a\n  b: *a\n', 'nested too deeply'],
  ])('refuses %s with 400, and leaves nothing behind', async (_what, file, detail) => {
    const answer = await post(file);
    expect([answer.status, answer.problem.detail]).toEqual([400, expect.stringContaining(detail)]);
    expect(await readdir(folder())).toEqual([]);
  });

  test('refuses other media types, an empty body and unknown formats', async () => {
    const json = await post('{}', '', { 'content-type': 'application/json' });
    const empty = await post('');
    const unknown = await post('x', '?format=bind');
    const coded = await post('x', '', { 'content-encoding': 'gzip' });
    expect([json.status, empty.status, unknown.status, coded.status]).toEqual([415, 400, 400, 415]);
  });
});
