/** Credentials in the URLs of lists and of the catalogue: used, but never shown. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const USER = 'lists-user';
const PASSWORD = 'S3cret-of-the-list';
const TOKEN = 't0ken-of-the-list';
const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

let lists: ListServer;
let weir: Weir;
let tempDir: TempDir;
/** Requests to the list server, one per line. */
let asked: string[];

beforeAll(async () => {
  asked = [];
  lists = await startListServer();
  lists.serve('/kept', '0.0.0.0 kept.listed.example\n');
  for (const path of ['/a', '/b'])
    lists.serve(`${path}?token=${TOKEN}&n=1`, ({ headers }, response) => {
      asked.push(`${path} ${headers.authorization ?? ''}`);
      if (headers.authorization === AUTHORIZATION) response.end(`0.0.0.0 ${path.slice(1)}.listed.example\n`);
      else response.writeHead(401).end();
    });
  const toml = `[blocking]\ncatalog_url = ${JSON.stringify(secretUrl('/catalog'))}\n[logging]\nlevel = "debug"\n`;
  tempDir = makeTempDir();
  await prepareDataDir(tempDir.dataDir);
  weir = await Weir.start({ toml, tempDir });
});
afterAll(async () => {
  await weir.stop();
  tempDir.remove();
  await lists.close();
});

function secretUrl(path: string): string {
  return lists.url(`${path}?token=${TOKEN}&n=1`).replace('://', `://${USER}:${PASSWORD}@`);
}

function shownUrl(path: string): string {
  return lists.url(`${path}?token=***&n=1`).replace('://', '://***@');
}

function expectNoSecret(text: string): void {
  for (const secret of [PASSWORD, TOKEN, USER]) expect(text).not.toContain(secret);
}

test('weir uses the credentials of a list URL, and keeps the credentials if an update sends the masked URL', async () => {
  const api = await weir.api();
  const source = await api.addSource({ name: 'private', url: secretUrl('/a') });
  expect(source).toMatchObject({ status: 'ok', url: shownUrl('/a'), rules: 1 });
  const path = `/blocklist-sources/${String(source.id)}`;
  const { enabled } = source;

  // First sends the URL as a form sends it back, then a URL with another path on the same server.
  const same = await api.expect<BlocklistSource>(200, 'PUT', path, {
    name: 'mine',
    url: source.url,
    enabled,
  });
  expect(same).toMatchObject({ name: 'mine', status: 'ok', url: shownUrl('/a') });
  await api.expect(200, 'PUT', path, { url: shownUrl('/b') });
  expect(await api.settledSource(source.id)).toMatchObject({ status: 'ok', url: shownUrl('/b'), rules: 1 });
  expect(asked).toEqual([`/a ${AUTHORIZATION}`, `/b ${AUTHORIZATION}`]);

  // Credentials are used only for the server for which they were entered.
  const elsewhere = shownUrl('/b').replace('127.0.0.1', '127.0.0.2');
  expect(await api.call('PUT', path, { url: elsewhere })).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'url' }] },
  });
  const fresh = { name: 'fresh', url: shownUrl('/c') };
  expect(await api.call('POST', '/blocklist-sources', fresh)).toMatchObject({ status: 400 });
  await api.expect(200, 'GET', path);
});

test('weir shows credentials in no API response and writes them to no log', async () => {
  const api = await weir.api();
  await weir.untilOutput(/service catalog not updated/);
  const missing = await api.addSource({ name: 'missing', url: secretUrl('/missing') });
  expect(missing).toMatchObject({ status: 'error', last_error: expect.stringContaining('answered 404') });
  const taken = await api.call('POST', '/blocklist-sources', { name: 'again', url: secretUrl('/missing') });
  expect(taken).toMatchObject({ status: 409 });
  const path = `/blocklist-sources/${String(missing.id)}`;
  const both = await api.call('PUT', path, { url: secretUrl('/b') });
  expect(both).toMatchObject({ status: 409 });
  const answers = [missing, taken, both];
  for (const place of [path, '/blocklist-sources', '/revisions', '/config', '/health', '/services/catalog'])
    answers.push(await api.expect<BlocklistSource>(200, 'GET', place));
  await api.expect(204, 'DELETE', path);
  answers.push(await api.expect<BlocklistSource>(200, 'GET', '/revisions'));
  expectNoSecret(JSON.stringify(answers));
  expectNoSecret(weir.output);
});

test('weir makes its files unreadable for other users of the machine (AdGuard Home CVE-2024-36586)', async () => {
  await (await weir.api()).addSource({ name: 'kept', url: lists.url('/kept') });
  const open: string[] = [];
  const check = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const { mode } = lstatSync(path);
      if ((mode & 0o077) !== 0)
        open.push(`${path.slice(tempDir.dataDir.length + 1)} ${(mode & 0o777).toString(8)}`);
      else if (entry.isDirectory()) check(path);
    }
  };
  check(tempDir.dataDir);
  // The database has its own folder with mode 0700. The only file that other users may read contains the process id.
  expect(open.filter((entry) => !entry.startsWith('postgres')).sort()).toEqual(['weir.pid 644']);
});
