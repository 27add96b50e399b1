/**
 * External changes to the configuration of a running Weir server: edits of its file and SIGHUP, rows that another node
 * has written, keys with a delayed effect, and the state after Weir has stopped.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { runningServerAddress } from '../../../control-plane/storage/db/running-postgres.ts';
import { embeddedTarget } from '../../../control-plane/storage/db/database-target.ts';
import { ANCHOR_FILE } from '../../../control-plane/resolving/trust-anchors/anchor-file.ts';
import type { ConfigAnswer } from '../../../shared/api/settings-api.ts';
import { EVERY_ADDRESS } from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { anchorsOf, serveZone } from './live-dnssec-keys.ts';
import { LiveFixture } from './live-fixture.ts';

let fixture: LiveFixture;
beforeAll(async () => {
  fixture = await LiveFixture.open();
});
afterAll(() => fixture.close());

const file = (): string => join(fixture.tempDir.path, 'weir.toml');
const config = (): Promise<ConfigAnswer> => fixture.api.expect(200, 'GET', '/config');
const secondPool = (toml: string): string =>
  toml.replace(`127.0.0.1:${String(fixture.first.port)}`, `127.0.0.1:${String(fixture.second.port)}`);

/** Runs a statement in the database, as another node would. */
async function atDatabase(sql: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client(embeddedTarget(runningServerAddress(fixture.tempDir.dataDir)).config);
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql, values);
  await client.end();
  return rows;
}

describe('SIGHUP', () => {
  test('applies edits of the configuration file, and keeps the rest of the file unchanged', async () => {
    const before = readFileSync(file(), 'utf8');
    const edited = `# by hand\n${secondPool(before)}`;
    writeFileSync(file(), edited);
    expect(await fixture.answerTo()).toEqual([EVERY_ADDRESS]);
    fixture.weir.child.kill('SIGHUP');
    await fixture.weir.untilOutput(/configuration file reloaded/);
    expect(await fixture.answerTo()).toEqual(['192.0.2.2']);
    expect(readFileSync(file(), 'utf8')).toBe(edited);
    expect((await config()).sources).toMatchObject({ 'dns.pools': 'database', 'server.workers': 'default' });
    writeFileSync(file(), before);
    await fixture.api.expect(200, 'POST', '/config/reload');
    expect(await fixture.answerTo()).toEqual([EVERY_ADDRESS]);
  });

  test('changes nothing if the file has faults, and logs each fault with its line', async () => {
    const before = readFileSync(file(), 'utf8');
    writeFileSync(file(), `${secondPool(before)}\n[cache]\nmin_ttl = 1\nmax_ttl_secs = "x"\n`);
    fixture.weir.child.kill('SIGHUP');
    await fixture.weir.untilOutput(/reload failed.*cache\.min_ttl: .*cache\.max_ttl_secs: /);
    expect(await fixture.answerTo()).toEqual([EVERY_ADDRESS]);
    writeFileSync(file(), before);
  });
});

describe('blocking.list_dirs', () => {
  test('allows lists in a folder that the configuration file names, and cannot be set over the API', async () => {
    const url = pathToFileURL(fixture.write('list.txt', 'listed.example.net\n')).href;
    const add = (): Promise<{ status: number }> =>
      fixture.api.call('POST', '/blocklist-sources', { name: 'a list', url });
    expect((await add()).status).toBe(400);
    const folder = `${fixture.tempDir.path}/files`;
    await fixture.api.expect(400, 'PATCH', '/config', { blocking: { list_dirs: [folder] } });
    const before = readFileSync(file(), 'utf8');
    writeFileSync(file(), before.replace('[blocking]\n', `[blocking]\nlist_dirs = ["${folder}"]\n`));
    await fixture.api.expect(200, 'POST', '/config/reload');
    expect((await add()).status).toBe(201);
  });
});

describe('a configuration row that another node has written', () => {
  test('becomes active on this node, and does not change its configuration file', async () => {
    const before = readFileSync(file(), 'utf8');
    const pools = JSON.stringify(fixture.pools(fixture.second));
    await atDatabase(`UPDATE config_values SET value = $1 WHERE key = 'dns.pools'`, [pools]);
    await until(
      'the pool of the row to be asked',
      () => fixture.answerTo(),
      (answerTo) => (answerTo as unknown[])[0] === '192.0.2.2',
    );
    expect(readFileSync(file(), 'utf8')).toBe(before);
    // The row remains active, because its line in the file was not edited.
    await fixture.api.expect(200, 'POST', '/config/reload');
    expect(await fixture.answerTo()).toEqual(['192.0.2.2']);
    await fixture.set({ 'dns.pools': fixture.pools(fixture.first) });
    expect(await fixture.answerTo()).toEqual([EVERY_ADDRESS]);
  });
});

describe('a key whose effect is delayed:', () => {
  test('blocking.catalog_url fetches the catalog immediately, and an empty value removes its services', async () => {
    const service = { id: 'live-made', name: 'Live', category: 'telemetry', domains: ['live.example'] };
    fixture.lists.serve('/catalog.json', JSON.stringify({ schema: 1, services: [service] }));
    const names = async (): Promise<string[]> => {
      const catalog = await fixture.api.expect<{ id: string }[]>(200, 'GET', '/services/catalog');
      return catalog.map(({ id }) => id);
    };
    expect(await names()).not.toContain('live-made');
    await fixture.set({ 'blocking.catalog_url': fixture.lists.url('/catalog.json') });
    await until('the service of the new catalog', names, (ids) => ids.includes('live-made'));
    await fixture.set({ 'blocking.catalog_url': '' });
    const shipped = await fixture.api.expect<{ id: string; withdrawn_at?: string }[]>(
      200,
      'GET',
      '/services/catalog',
    );
    expect(shipped.filter(({ id, withdrawn_at: at }) => id === 'live-made' && at === undefined)).toEqual([]);
  });

  test('dns.dnssec_anchor_updates = "all" starts to follow the keys of the trust anchors', async () => {
    serveZone(fixture);
    const followed = join(fixture.tempDir.dataDir, ANCHOR_FILE);
    await fixture.set({
      'dns.pools': fixture.pools(fixture.scripted),
      'dns.dnssec_trust_anchors': anchorsOf(fixture),
      'dns.dnssec_enabled': true,
    });
    expect(existsSync(followed)).toBe(false);
    await fixture.set({ 'dns.dnssec_anchor_updates': 'all' });
    await until(
      `the keys of org in ${ANCHOR_FILE}`,
      () => (existsSync(followed) ? readFileSync(followed, 'utf8') : null),
      (text) => text?.includes('org') === true,
    );
    await fixture.set({ 'dns.dnssec_enabled': false, 'dns.pools': fixture.pools(fixture.first) });
    expect(await fixture.answerTo()).toEqual([EVERY_ADDRESS]);
  });
});

describe('server.site', () => {
  test('is stored with the clients that the node has seen', async () => {
    await fixture.answerTo();
    const sites = (): Promise<unknown[]> => atDatabase('SELECT DISTINCT site FROM clients');
    const found = await until('a client to be stored', sites, ({ length }) => length > 0, { pauseMs: 100 });
    expect(found).toEqual([{ site: 'home' }]);
  });
});

describe('the configuration after a restart', () => {
  test('keeps cached answers on disk if cache.persist was enabled while the node was running', async () => {
    expect(existsSync(join(fixture.tempDir.dataDir, 'answer-cache'))).toBe(false);
    await fixture.set({ 'cache.persist': true, 'cache.min_ttl_secs': 7200 });
    await fixture.answerTo('kept.example.com');
    // The restart writes a new configuration file, so the options repeat the changed values.
    await fixture.restart({ database: 'none', toml: '[cache]\npersist = true\nmin_ttl_secs = 7200\n' });
    const { rcode, answers } = await fixture.ask('kept.example.com');
    expect([rcode, answers[0]!.ttl > 3600]).toEqual([0, true]);
    const asked = fixture.first.udpQuestions.map(({ bytes }) => Buffer.from(bytes).toString('latin1'));
    expect(asked.filter((bytes) => bytes.toLowerCase().includes('\x04kept'))).toHaveLength(1);
    // Without a database, the node uses its stored copy of the rows, and rejects changes.
    expect((await fixture.ask()).answers[0]!.ttl).toBe(7200);
  });
});
