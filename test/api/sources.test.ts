/** Blocklist sources as HTTP sees them; what becomes of a source has suites beside its code. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BlocklistSource, BlocklistSourceList } from '../../shared/api/sources.ts';
import { openSuiteDatabase, RunningApi } from './running-api.ts';
import type { SuiteDatabase, TestAnswer } from './running-api.ts';

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, 'auth.enabled = false');
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const BASE = '/api/blocklist-sources';
const post = (json: unknown): Promise<TestAnswer> => api.send('POST', BASE, { json });

describe('blocklist sources', () => {
  test('are created, read, changed, refreshed and deleted', async () => {
    const created = await post({ name: 'Ads', url: 'https://lists.example/ads.txt', group_ids: [1] });
    expect(created.status).toBe(201);
    const source = BlocklistSource.parse(created.body);
    expect(source).toMatchObject({
      enabled: true,
      comment: '',
      group_ids: [1],
      subdomains: false,
      status: 'pending',
    });
    const path = `${BASE}/${source.id}`;

    expect((await api.send('GET', path)).body).toEqual(source);
    const changed = await api.send('PUT', path, { json: { enabled: false } });
    expect([changed.status, changed.body]).toEqual([200, { ...source, enabled: false }]);
    const refreshed = await api.send('POST', `${path}/refresh`);
    expect([refreshed.status, BlocklistSource.parse(refreshed.body).status]).toEqual([202, 'updating']);
    const all = await api.send('POST', `${BASE}/refresh`);
    expect([all.status, BlocklistSourceList.parse(all.body)]).toHaveLength(2);
    expect((await api.send('DELETE', path)).status).toBe(204);
    expect((await api.send('GET', path)).status).toBe(404);
    expect((await api.send('POST', `${path}/refresh`)).status).toBe(404);
    expect(BlocklistSourceList.parse((await api.send('GET', BASE)).body)).toEqual([]);
  });

  test('with a taken URL are 409', async () => {
    await post({ name: 'One', url: 'https://lists.example/one.txt' });
    const answer = await post({ name: 'Two', url: 'https://lists.example/one.txt' });
    expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
  });

  test.each([
    'http://lists.example/a',
    'https://[2001:db8::1]:8443/a?b=c',
    'file:///var/lib/lists/my%20list.txt',
  ])('take the URL %s', async (url) => expect((await post({ name: 'x', url })).status).toBe(201));

  test.each([
    '',
    'lists.example/a',
    'ftp://lists.example/a',
    'javascript:alert(1)',
    'file://host/share/list.txt',
    'https://',
    ' https://lists.example/a',
    `https://lists.example/${'a'.repeat(2048)}`,
  ])('refuse the URL %j', async (url) => {
    const answer = await post({ name: 'x', url });
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'url']);
  });

  test.each([
    [{ url: 'https://lists.example/b' }, ['name']],
    [{ name: 'x' }, ['url']],
    [
      { name: 'x', url: 'https://lists.example/b', group_ids: [1, 'two', -3] },
      ['group_ids.1', 'group_ids.2'],
    ],
    [{ name: 'x', url: 'https://lists.example/b', group_ids: [2, 2] }, ['group_ids']],
    [{ name: 'x', url: 'https://lists.example/b', group_ids: [2147483648] }, ['group_ids.0']],
    [{ name: 'x', url: 'https://lists.example/b', status: 'ok', rules: 5 }, ['status', 'rules']],
    [{ name: 2, url: 3, enabled: 'no', subdomains: 1 }, ['name', 'url', 'enabled', 'subdomains']],
  ])('refuse %j and name every bad field', async (json, paths) => {
    const answer = await post(json);
    const named = answer.problem.errors!.map((fault) => fault.path);
    expect([answer.status, [...new Set(named)]]).toEqual([400, paths]);
  });
});
