/** Choices before an import, over real HTTP and PostgreSQL: settings, questions and differences. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { startEchoingUpstream } from '../../../test/support/dns/echoing-upstream.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import { importedPolicy } from '../../../test/support/parts/imported-policy.ts';
import { tarOf } from '../../../test/support/parts/made-archives.ts';
import { importSuite, itemsOf } from '../../../test/support/parts/import-suite.ts';
import { FIRST_SOURCE_URL, seedFirstSource } from '../../lists/sources/first-source.ts';
import { testUpstreams } from '../../resolving/upstreams/upstream-test.ts';

let good: ScriptedUpstream;
let refusing: ScriptedUpstream;
beforeAll(async () => {
  good = await startEchoingUpstream();
  refusing = await ScriptedUpstream.start();
  refusing.udpScript = (query) =>
    query.reply(Buffer.concat([query.bytes.subarray(0, 2), REFUSED, rest(query.bytes)]));
});
afterAll(() => Promise.all([good.close(), refusing.close()]));

/** QR, RD, RA and REFUSED. */
const REFUSED = Buffer.from([0x81, 0x85]);

/** A query without its EDNS record. */
function rest(query: Uint8Array): Uint8Array {
  let end = 12;
  while (query[end] !== 0) end += query[end]! + 1;
  return Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 0, 0, 0]), query.subarray(12, end + 5)]);
}

const queries = new Map([
  ['www.often.example', 90],
  ['mask.icloud.com', 7],
  ['use-application-dns.net', 20],
]);
/** The log, which a test may make slow. */
let askLog = (): Promise<ReadonlyMap<string, number>> => Promise.resolve(queries);
const { suite, folder, api, imported, post } = importSuite({
  parts: {
    testUpstreams: (servers, bootstrap) => testUpstreams(servers, { bootstrap, dnsPort: 53 }),
    loggedQueries: () => askLog(),
  },
});

/** An AdGuard Home; `more` are additional lines of its file. */
function adguard(more: string): string {
  return `schema_version: 34\n${more}`;
}

const at = ({ port }: ScriptedUpstream): string => `127.0.0.1:${String(port)}`;
const configOf = async (key: string): Promise<unknown> => {
  const { rows } = await suite().database.query<{ value: unknown }>(
    'SELECT value FROM config_values WHERE key = $1',
    [key],
  );
  return rows[0]?.value;
};
const settingsOf = ({ settings }: ImportReport): Record<string, boolean> =>
  Object.fromEntries(settings.map(({ key, selected }) => [key, selected]));
const audit = async (): Promise<unknown[]> =>
  (await suite().database.query('SELECT actor, subject, after FROM audit_log ORDER BY id')).rows;

describe('the queue of imports', () => {
  const place = (): string => join(folder(), 'import');
  const exists = async (): Promise<boolean> => (await readdir(folder())).includes('import');

  test('runs one import at a time, and refuses an import with 503 while two wait', async () => {
    let running = 0;
    let max = 0;
    const first = Promise.withResolvers<null>();
    const gate = Promise.withResolvers<null>();
    askLog = async () => {
      max = Math.max(max, ++running);
      first.resolve(null);
      await gate.promise;
      running--;
      return queries;
    };
    try {
      const firstAnswer = post(adguard(''), '?dry_run=true');
      await first.promise;
      const others = Array.from({ length: 3 }, () => post(adguard(''), '?dry_run=true'));
      const refused = await Promise.race(others);
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
      gate.resolve(null);
      const answers = await Promise.all([firstAnswer, ...others]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 503]);
      expect(max).toBe(1);
      // Requests that have ended no longer count against the limit.
      await imported(adguard(''), '?dry_run=true');
    } finally {
      gate.resolve(null);
      askLog = () => Promise.resolve(queries);
    }
  });

  test('gives each import an empty folder that only Weir may read, and deletes it afterwards', async () => {
    await mkdir(place());
    await writeFile(join(place(), 'left'), 'by an import that was killed');
    let seen: readonly unknown[] = [];
    askLog = async () => {
      seen = [(await readdir(place())).includes('left'), (await stat(place())).mode & 0o777];
      return queries;
    };
    try {
      await imported(adguard(''), '?dry_run=true');
    } finally {
      askLog = () => Promise.resolve(queries);
    }
    expect([seen, await exists()]).toEqual([[false, 0o700], false]);
  });

  test('is free again after an unreadable file, and so is the folder', async () => {
    for (let count = 0; count < 4; count++)
      expect((await post('{', '?format=adguard_home')).status).toBe(400);
    expect(await exists()).toBe(false);
  });
});

describe('the settings of an import', () => {
  const KEYS = 'querylog: {enabled: true, interval: 168h}\ndns: {ratelimit: 20, refuse_any: true}\n';

  test('are selected by default, and set as by PATCH /config, in one revision with all other objects', async () => {
    const file = adguard(`${KEYS}user_rules: ['||denied.example^']\n`);
    const tried = await imported(file, '?dry_run=true');
    expect(settingsOf(tried)).toMatchObject({
      'database.query_log_days': true,
      'dns.rate_limit.queries_per_second': true,
    });
    expect([await configOf('database.query_log_days'), await audit()]).toEqual([undefined, []]);
    const done = await imported(file);
    expect(done).toEqual({ ...tried, dry_run: false, revision: expect.any(Number) });
    expect(await configOf('database.query_log_days')).toBe(7);
    expect(await readFile(join(api().folder, 'weir.toml'), 'utf8')).toContain('query_log_days = 7');
    expect(api().parts.configuration.current().dns.rate_limit.queries_per_second).toBe(20);
    const entries = await audit();
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      after: {
        'configuration database.query_log_days': { value: 7 },
        'config_values dns.rate_limit.queries_per_second': { value: 20 },
      },
    });
    const again = await imported(file);
    expect(again).toMatchObject({ revision: null, counts: { done: 0, changed: 0 } });
    expect(again.settings.filter(({ selected }) => selected)).toEqual([]);
  });

  test('are only those that the query parameter names, or none', async () => {
    const file = adguard(KEYS);
    const none = await imported(file, '?settings=none');
    expect(none).toMatchObject({ revision: null, counts: { changed: 0 } });
    expect(Object.values(settingsOf(none))).not.toContain(true);
    expect(itemsOf(none, 'configuration')['querylog.interval']).toBe(
      'not_mapped: not selected: database.query_log_days = 7',
    );
    const one = await imported(file, '?settings=database.query_log_days,dns.block_private_relay');
    expect(one.settings.filter(({ selected }) => selected).map(({ key }) => key)).toEqual([
      'database.query_log_days',
      'dns.block_private_relay',
    ]);
    expect(await configOf('dns.rate_limit.enabled')).toBeUndefined();
    expect(await configOf('dns.block_private_relay')).toBe(false);
  });

  test('are reported with the reason if they are incomplete, and all other settings are set', async () => {
    const report = await imported(adguard(`${KEYS}filtering: {blocking_mode: custom_ip}\n`));
    const mode = report.settings.find(({ key }) => key === 'blocking.mode');
    expect(mode).toMatchObject({ selected: false, can_select: false });
    expect(mode!.reason).toContain('an address in blocking.custom_ipv4 or custom_ipv6');
    expect(await configOf('blocking.mode')).toBeUndefined();
    expect(await configOf('database.query_log_days')).toBe(7);
    const whole = adguard('filtering: {blocking_mode: custom_ip, blocking_ipv4: 192.0.2.9}\n');
    expect(settingsOf(await imported(whole))).toMatchObject({
      'blocking.mode': true,
      'blocking.custom_ipv4': true,
    });
  });

  test('leave out values that the file of this node cannot contain, and everything else is imported', async () => {
    const blocked = adguard(`${KEYS}user_rules: ['||denied.example^']\n`);
    await writeFile(join(api().folder, 'weir.toml'), 'not = [toml');
    const report = await imported(blocked);
    expect(report).toMatchObject({ revision: expect.any(Number), counts: { done: 1 } });
    const { selected, reason } = report.settings.find(({ key }) => key === 'database.query_log_days')!;
    expect([selected, reason]).toEqual([false, expect.stringContaining('the configuration file has errors')]);
  });

  test('include a pool of upstreams only if one of its servers answers a test query', async () => {
    const [works, fails] = [at(good), at(refusing)];
    const before = good.udpQuestions.length;
    const tried = await imported(
      adguard(`dns: {upstream_dns: ['${works}', '${fails}'], fallback_dns: ['${fails}']}\n`),
      '?dry_run=true',
    );
    const pools = tried.settings.filter(({ key }) => key.startsWith('dns.pools.'));
    expect(pools).toMatchObject([
      { selected: true, can_select: true, reason: `a test query fails (${fails}: REFUSED)` },
      { selected: false, can_select: true, reason: `no server answers a test query (${fails}: REFUSED)` },
    ]);
    expect(good.udpQuestions.length).toBe(before + 1);
    const file = adguard(`dns: {upstream_dns: ['${works}'], fallback_dns: ['${fails}']}\n`);
    await imported(file);
    expect(await configOf('dns.pools')).toMatchObject([{ servers: [works] }]);
    // A manually selected pool is set even if it fails, so no server is queried.
    const asked = [good, refusing].map(({ udpQueries }) => udpQueries.length);
    await imported(file, '?settings=dns.pools.0,dns.pools.1');
    expect([good, refusing].map(({ udpQueries }) => udpQueries.length)).toEqual(asked);
    expect(await configOf('dns.pools')).toMatchObject([{ servers: [works] }, { servers: [fails] }]);
  });

  test('contain no secrets of a server', async () => {
    const file = adguard(`dns: {upstream_dns: ['https://me:hunter2@127.0.0.1:1/dns-query']}\n`);
    const { text } = await post(file, '?dry_run=true');
    expect(text).not.toContain('hunter2');
  });
});

describe('testUpstreams()', () => {
  test('reports a server that is this node, and a server whose port is closed', async () => {
    const closed = await ScriptedUpstream.start();
    const address = at(closed);
    await closed.close();
    const { port } = good;
    const tests = await testUpstreams([at(good), 'quic://x', address], { bootstrap: [], dnsPort: port });
    expect([...tests]).toEqual([
      [at(good), 'it is this server: queries would loop'],
      ['quic://x', 'it is not an upstream server'],
      [address, expect.stringMatching(/refused|timeout/)],
    ]);
  });
});

describe('the list that Weir adds at its first start, during an import,', () => {
  const TEXTS = {
    [FIRST_SOURCE_URL]: '0.0.0.0 starting.example\n',
    'https://lists.example/a': 'own.example\n',
  };
  const OWN = `filters: [{enabled: true, url: 'https://lists.example/a', name: own, id: 1}]
clients: {persistent: [{name: free, ids: [192.0.2.10], use_global_settings: false, filtering_enabled: false}]}
`;

  async function seed(): Promise<void> {
    await suite().database.query(`DELETE FROM meta WHERE key = 'first_source_seeded'`);
    await seedFirstSource(suite().database);
  }

  /** Whether a client of Default and an unfiltered client are blocked. */
  async function blocked(query: string, name: string): Promise<boolean[]> {
    await seed();
    await imported(adguard(OWN), query);
    const ask = await importedPolicy(suite().database, TEXTS);
    return ['192.0.2.200', '192.0.2.10'].map((client) => ask(client, name).status === 'BLOCKED_LIST');
  }

  test('is disabled unless the user keeps it, if the file blocks something', async () => {
    expect(await blocked('', 'starting.example')).toEqual([false, false]);
  });

  test('never applies to clients that the file does not filter, if it is kept', async () => {
    expect(await blocked('?answers=starting_list:keep', 'starting.example')).toEqual([true, false]);
    // The answer also applies when the same file is imported again.
    expect(await imported(adguard(OWN))).toMatchObject({ revision: null, counts: { changed: 0 } });
  });

  test('causes a question, and is reported', async () => {
    await seed();
    const own = await imported(adguard(OWN), '?dry_run=true');
    expect(own.questions).toMatchObject([{ id: 'starting_list', kind: 'starting_list', choice: 'disable' }]);
    expect(itemsOf(own, 'blocklist')['StevenBlack unified hosts']).toContain('changed: ');
    const plain = await imported('192.0.2.5 nas.lan\n', '?format=hosts&dry_run=true');
    expect(plain.questions).toMatchObject([{ id: 'starting_list', choice: 'keep' }]);
    expect(itemsOf(plain, 'blocklist')['StevenBlack unified hosts']).toContain('stays active');
    const bad = await post(adguard(OWN), '?answers=starting_list');
    expect(bad.status).toBe(400);
  });
});

describe('an imported device that Weir knows by its MAC', () => {
  const MAC = '02:00:5e:00:00:07';
  const ENTRY = `clients: {persistent: [{name: tv, ids: [192.0.2.77], use_global_settings: false, filtering_enabled: false}]}
user_rules: ['||denied.example^']
`;

  async function see(name: string | null, group: string | null): Promise<void> {
    if (group !== null)
      await suite().database.query('INSERT INTO groups (name, comment) VALUES ($1, $2)', [group, '']);
    await suite().database.query(
      `INSERT INTO clients (mac_address, ip_address, name, group_id, last_seen)
       VALUES ($1, '192.0.2.77', $2, (SELECT id FROM groups WHERE name = $3), now())`,
      [MAC, name, group],
    );
  }

  const clients = async (): Promise<unknown[]> =>
    (
      await suite().database.query(
        `SELECT c.mac_address::text AS mac, c.name, g.name AS "group" FROM clients c LEFT JOIN groups g ON g.id = c.group_id`,
      )
    ).rows;

  test('remains one client', async () => {
    await see(null, null);
    const report = await imported(adguard(ENTRY));
    expect(await clients()).toEqual([{ mac: MAC, name: 'tv', group: 'AdGuard Home: tv' }]);
    expect(itemsOf(report, 'client')['tv']).toBe(
      `done: the device with the MAC ${MAC} has this address: imported as one client`,
    );
    expect(report.questions).toEqual([]);
    expect(await imported(adguard(ENTRY))).toMatchObject({ revision: null });
  });

  test.each([
    ['', 'AdGuard Home: tv'],
    ['?answers=device.02005e000007:device', 'Lounge'],
  ])('gets the group that the user chooses (%s)', async (query, group) => {
    await see('television', 'Lounge');
    const tried = await imported(adguard(ENTRY), `${query === '' ? '?' : `${query}&`}dry_run=true`);
    expect(tried.questions).toMatchObject([
      {
        id: 'device.02005e000007',
        name: `television, 192.0.2.77, ${MAC}`,
        choices: [
          { id: 'address', text: 'AdGuard Home: tv' },
          { id: 'device', text: 'Lounge' },
        ],
      },
    ]);
    await imported(adguard(ENTRY), query);
    expect(await clients()).toEqual([{ mac: MAC, name: 'television', group }]);
  });
});

describe('differences after an import', () => {
  test('are listed, most frequently queried names first, with a setting for additions of Weir', async () => {
    const { differences, settings, counts } = await imported(
      adguard('user_rules: ["||denied.example^"]\n'),
      '?dry_run=true',
    );
    expect(differences.map(({ name, queries: count }) => [name, count])).toEqual([
      ['iCloud Private Relay', 7],
      ['private addresses in answers', 0],
    ]);
    expect(counts.differs).toBe(2);
    expect(settings.map(({ key, value, selected }) => [key, value, selected])).toEqual([
      ['dns.rebinding_protection', false, false],
      ['dns.block_private_relay', false, false],
    ]);
    const chosen = await imported(adguard(''), '?settings=dns.rebinding_protection');
    expect(chosen.differences.map(({ name }) => name)).not.toContain('private addresses in answers');
    expect(await configOf('dns.rebinding_protection')).toBe(false);
  });

  test('are sorted by the query log in the export, if it contains one', async () => {
    const line = (name: string): string => `{"T":"2026-11-28T20:00:00Z","QH":"${name}","QT":"A"}\n`;
    const file = tarOf({
      'AdGuardHome.yaml': adguard('user_rules: ["||denied.example^"]\n'),
      'data/querylog.json':
        line('mask.icloud.com') + line('mask.icloud.com') + line('use-application-dns.net'),
    });
    const { differences } = await imported(file, '?dry_run=true');
    expect(differences.map(({ name, queries: count }) => [name, count])).toEqual([
      ['iCloud Private Relay', 2],
      ['private addresses in answers', 0],
    ]);
  });

  test('report for each rule whether it allows or denies', async () => {
    const { items } = await imported(
      adguard(`user_rules: ['||denied.example^', '@@||fine.example^', '/(?=x)/']\n`),
      '?dry_run=true',
    );
    const rules = items.filter(({ kind }) => kind === 'list_rule');
    expect(rules.map(({ name, action }) => [name, action])).toEqual([
      ['||denied.example^', 'deny'],
      ['@@||fine.example^', 'allow'],
      ['/(?=x)/', 'deny'],
    ]);
  });
});
