/** HTTP routes of list sources; the tests of their life cycle are in separate files. */
import { describe, expect, test } from '@jest/globals';
import { compiledListRoutes } from '../compiled/compiled-list-routes.ts';
import type { CompiledLists } from '../compiled/compiled-lists.ts';
import { sourceRoutes } from './source-routes.ts';
import { CompiledRulePage } from '../../../shared/api/policy/compiled-lists-api.ts';
import {
  BlocklistSource,
  BlocklistSourceList,
  UnusedLineList,
} from '../../../shared/api/policy/sources-api.ts';
import { MemorySources } from '../../../test/support/parts/memory-sources.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';

const sources = new MemorySources();

const compiledLists: Pick<CompiledLists, 'page'> = {
  page: async (kind, { limit, offset }) => ({
    data: [{ domain: `${kind}.example`, match: 'exact', important: false, sources: ['ads'] }],
    total: 1,
    total_is_estimate: false,
    limit,
    offset,
  }),
};

/** Routes under test. */
const suiteRoutes: Rows = () => [...sourceRoutes({ sources }), ...compiledListRoutes({ compiledLists })];

let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ api } = served));

const BASE = '/api/blocklist-sources';
const post = (json: unknown): Promise<TestAnswer> => api.send('POST', BASE, { json });

describe('blocklist sources over the API', () => {
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

  test('are refused with 409 if another source has the URL', async () => {
    await post({ name: 'One', url: 'https://lists.example/one.txt' });
    const answer = await post({ name: 'Two', url: 'https://lists.example/one.txt' });
    expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
  });

  test.each([
    'http://lists.example/a',
    'https://[2001:db8::1]:8443/a?b=c',
    'file:///var/lib/lists/my%20list.txt',
  ])('accept the URL %s', async (url) => expect((await post({ name: 'x', url })).status).toBe(201));

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
  ])('refuse %j and name every invalid field', async (json, paths) => {
    const answer = await post(json);
    const named = answer.problem.errors!.map((fault) => fault.path);
    expect([answer.status, [...new Set(named)]]).toEqual([400, paths]);
  });
});

describe('allowlist sources over the API', () => {
  test('have separate routes, which also exist as whitelist-sources', async () => {
    const json = { name: 'Fine', url: 'https://lists.example/fine.txt' };
    const created = await api.send('POST', '/api/allowlist-sources', { json });
    expect(created.status).toBe(201);
    const { id } = BlocklistSource.parse(created.body);
    for (const base of ['/api/allowlist-sources', '/api/whitelist-sources']) {
      expect((await api.send('GET', `${base}/${id}`)).body).toEqual(created.body);
      expect((await api.send('GET', base)).body).toEqual([created.body]);
      expect((await api.send('POST', `${base}/${id}/refresh`)).status).toBe(202);
      expect((await api.send('POST', `${base}/refresh`)).status).toBe(202);
    }
    expect((await api.send('GET', `${BASE}/${id}`)).status).toBe(404);
    expect((await api.send('DELETE', `${BASE}/${id}`)).status).toBe(404);
    const changed = await api.send('PUT', `/api/whitelist-sources/${id}`, { json: { name: 'Finer' } });
    expect(BlocklistSource.parse(changed.body).name).toBe('Finer');
    expect((await api.send('DELETE', `/api/whitelist-sources/${id}`)).status).toBe(204);
  });
});

describe('POST .../approve of a list source', () => {
  test('activates a held update, and returns 409 without one', async () => {
    const created = await post({ name: 'Held', url: 'https://lists.example/held.txt' });
    const { id } = BlocklistSource.parse(created.body);
    expect((await api.send('POST', `${BASE}/${id}/approve`)).status).toBe(409);
    sources.hold(id);
    const held = { reason: 'shrank', rules: 4, rules_in_force: 10, names: [], name_count: 0 };
    const shown = BlocklistSource.parse((await api.send('GET', `${BASE}/${id}`)).body);
    expect(shown).toMatchObject({ status: 'held', held });
    const approved = await api.send('POST', `${BASE}/${id}/approve`);
    expect([approved.status, BlocklistSource.parse(approved.body).status]).toEqual([200, 'ok']);
    expect((await api.send('POST', `${BASE}/999/approve`)).status).toBe(404);
  });
});

describe('GET .../unused-lines of a list source', () => {
  test('returns the lines that Weir cannot use, with reasons', async () => {
    const created = await post({ name: 'Lines', url: 'https://lists.example/lines.txt' });
    const { id } = BlocklistSource.parse(created.body);
    const lines = UnusedLineList.parse((await api.send('GET', `${BASE}/${id}/unused-lines`)).body);
    expect(lines).toEqual([{ line: 3, reason: 'not a rule', text: 'what is this' }]);
    expect((await api.send('GET', `${BASE}/999/unused-lines`)).status).toBe(404);
  });
});

describe('GET /blocklist and GET /allowlist', () => {
  test('return pages of active rules', async () => {
    for (const [path, domain] of [
      ['blocklist', 'block.example'],
      ['allowlist', 'allow.example'],
      ['whitelist', 'allow.example'],
    ] as const) {
      const answer = await api.send('GET', `/api/${path}?limit=5&offset=2&search=x`);
      expect(CompiledRulePage.parse(answer.body)).toMatchObject({ limit: 5, offset: 2, data: [{ domain }] });
    }
    expect((await api.send('GET', '/api/blocklist?limit=0')).status).toBe(400);
    expect((await api.send('POST', '/api/blocklist')).status).toBe(405);
  });
});
