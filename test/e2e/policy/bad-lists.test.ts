/**
 * Lists whose server starts to send invalid content: the last valid version stays active and the API reports the
 * reason.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListAnswer, ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

let lists: ListServer;
let weir: Weir;
let udp: UdpClient;
let api: ApiClient;
beforeAll(async () => {
  lists = await startListServer();
  weir = await Weir.start({ toml: '[dns]\nquery_timeout_ms = 200\n' });
  udp = await UdpClient.open(weir.dnsPort);
  api = await weir.api();
});
afterAll(async () => {
  udp.close();
  await lists.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
});

async function isBlocked(name: string): Promise<boolean> {
  return (await udp.ask(name, 'A')).data[0] === '0.0.0.0';
}

function page(status: number, text: string): ListAnswer {
  return (_request, response) => response.writeHead(status).end(text);
}

const halfList: ListAnswer = (_request, response) => {
  response.writeHead(200, { 'Content-Length': '1000' });
  response.write('half.example.com\n', () => response.destroy());
};

const redirectElsewhere: ListAnswer = (_request, response) =>
  response.writeHead(302, { Location: 'http://169.254.169.254/latest/meta-data/' }).end();

const CASES: readonly (readonly [string, ListAnswer, RegExp])[] = [
  ['404', page(404, 'not here'), /answered 404/],
  ['500', page(500, 'broken'), /answered 500/],
  ['a web page', page(200, '<!DOCTYPE html>\n<html><body>Log in first</body></html>\n'), /HTML/],
  ['nothing', page(200, ''), /empty/],
  ['half a list', halfList, /closed before the end/],
  ['a way to a metadata service', redirectElsewhere, /link-local/],
];

describe('weir with lists that become invalid', () => {
  test.each(CASES)(
    'keeps the last valid version if the URL later answers %s, and reports the reason',
    async (what, bad, reason) => {
      const path = `/${encodeURIComponent(what)}`;
      lists.serve(path, 'good.example.com\n');
      const source = await api.addSource({ name: what, url: lists.url(path) });
      expect(source).toMatchObject({ status: 'ok', rules: 1, last_error: null });
      lists.serve(path, bad);
      await api.expect(202, 'POST', `/blocklist-sources/${String(source.id)}/refresh`);
      const after: BlocklistSource = await api.settledSource(source.id);
      expect(after).toMatchObject({ status: 'error', rules: 1 });
      expect(after.last_error).toMatch(reason);
      expect(await isBlocked('good.example.com')).toBe(true);
      expect(await isBlocked('half.example.com')).toBe(false);
      await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
      expect(await isBlocked('good.example.com')).toBe(false);
    },
  );

  test.each(CASES)(
    'accepts a source whose URL always answers %s, and blocks nothing with it',
    async (what, bad, reason) => {
      const path = `/new-${encodeURIComponent(what)}`;
      lists.serve(path, bad);
      const source = await api.addSource({ name: `new ${what}`, url: lists.url(path) });
      expect(source).toMatchObject({ status: 'error', rules: 0 });
      expect(source.last_error).toMatch(reason);
      expect(await isBlocked('half.example.com')).toBe(false);
      await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
    },
  );

  test.each(['file:///etc/passwd', 'file:///nowhere/at/all'])('fetches no list from %s', async (url) => {
    const { status, body } = await api.call('POST', '/blocklist-sources', { name: url, url });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'invalid', errors: [{ path: 'url' }] });
    expect(JSON.stringify(body)).toContain('list_dirs');
  });

  test('reads no list through a symbolic link that leads out of its folder', async () => {
    const folder = join(weir.tempDir.dataDir, 'lists');
    mkdirSync(folder, { recursive: true });
    symlinkSync('/etc/passwd', join(folder, 'link.txt'));
    const url = pathToFileURL(join(folder, 'link.txt')).href;
    const { status, body } = await api.call('POST', '/blocklist-sources', { name: 'link', url });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('list_dirs');
  });
});
