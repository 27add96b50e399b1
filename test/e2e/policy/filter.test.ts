/** Rules, services, held updates, explanations and rollbacks: a change over the API affects the next DNS answer. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CompiledRulePage } from '../../../shared/api/policy/compiled-lists-api.ts';
import type { ClusterNode } from '../../../shared/api/nodes-api.ts';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import type { SourceStatsList } from '../../../shared/api/policy/compiled-lists-api.ts';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

let upstream: ScriptedUpstream;
let lists: ListServer;
let weir: Weir;
let startedMs: number;
let udp: UdpClient;
let api: ApiClient;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  lists = await startListServer();
  startedMs = Date.now();
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  udp = await UdpClient.open(weir.dnsPort);
  api = await weir.api();
});
afterAll(async () => {
  udp.close();
  await lists.close();
  await upstream.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
});

/** The address in the answer for a name. */
async function answerOf(name: string): Promise<string> {
  const reply = await udp.ask(name, 'A');
  const [data] = reply.data;
  return typeof data === 'string' ? data : 'no address';
}

const BLOCKED = '0.0.0.0';

describe('weir with rules that users write', () => {
  test('applies a managed domain as soon as it is stored, and stops once it is deleted', async () => {
    const rule = await api.expect<{ id: number }>(201, 'POST', '/managed-domains', {
      name: 'mine',
      domain: '*.managed.example',
      action: 'deny',
    });
    expect(await answerOf('a.managed.example')).toBe(BLOCKED);
    const path = `/managed-domains/${String(rule.id)}`;
    await api.expect(200, 'PUT', path, { action: 'allow' });
    expect(await answerOf('a.managed.example')).toBe(EVERY_ADDRESS);
    await api.expect(200, 'PUT', path, { action: 'deny' });
    expect(await answerOf('a.managed.example')).toBe(BLOCKED);
    await api.expect(204, 'DELETE', path);
    expect(await answerOf('a.managed.example')).toBe(EVERY_ADDRESS);
  });

  test('applies a regex filter as soon as it is stored', async () => {
    const rule = await api.expect<{ id: number }>(201, 'POST', '/regex-filters', {
      pattern: '^tracker[0-9]+\\.',
      action: 'deny',
    });
    expect([await answerOf('tracker7.regex.example'), await answerOf('tracker.regex.example')]).toEqual([
      BLOCKED,
      EVERY_ADDRESS,
    ]);
    await api.expect(204, 'DELETE', `/regex-filters/${String(rule.id)}`);
    expect(await answerOf('tracker7.regex.example')).toBe(EVERY_ADDRESS);
  });

  test('answers NXDOMAIN for a blocked service, built-in or custom', async () => {
    const custom = { name: 'Games', category: 'gambling', domains: ['games.example'] };
    await api.expect(201, 'POST', '/services/custom', custom);
    for (const [service, name] of [
      ['netflix', 'www.netflix.com'],
      ['custom-games', 'play.games.example'],
    ] as const) {
      await api.expect(201, 'POST', '/services', { service_id: service, group_id: 1 });
      expect((await udp.ask(name, 'A')).data).toEqual([]);
      await api.expect(204, 'DELETE', `/services/${service}/groups/1`);
      expect(await answerOf(name)).toBe(EVERY_ADDRESS);
    }
  });
});

describe('weir with lists', () => {
  test('explains a blocked name with its rule, list and line, and finds the rule among the active rules', async () => {
    lists.serve('/explain', '# a list\n\nother.example\n||Explained.example^ # why\n');
    await api.addSource({ name: 'explained', url: lists.url('/explain') });
    const explain = (domain: string): Promise<ExplainAnswer> =>
      api.expect<ExplainAnswer>(200, 'GET', `/explain?domain=${domain}&type=a&client=127.0.0.1`);
    expect(await explain('www.explained.example')).toMatchObject({
      domain: 'www.explained.example',
      type: 'A',
      group_id: 1,
      status: 'BLOCKED_LIST',
      decided_by: { origin: 'list', rule: '||explained.example^', source: 'explained', line: 4 },
      answer: { rcode: 'NOERROR', answers: [{ type: 'A', data: BLOCKED }] },
    });
    const allowed = await explain('allowed.example');
    expect(allowed).toMatchObject({ decided_by: null, answer: { answers: [{ data: EVERY_ADDRESS }] } });
    expect(allowed.stages.map(({ stage }) => stage)).toContain('policy');
    expect((await api.call('GET', '/explain?domain=a..b')).status).toBe(400);
    expect((await api.call('GET', '/explain?domain=a.example&type=NONE&client=x')).status).toBe(400);
    const found = await api.expect<CompiledRulePage>(200, 'GET', '/blocklist?search=explained');
    expect(found).toMatchObject({
      total: 1,
      data: [{ domain: 'explained.example', match: 'subdomains', sources: ['explained'] }],
    });
  });

  test('counts the blocks of each list, even after renaming, and the rules that are in no other list', async () => {
    lists.serve('/worth-1', 'both.worth.example\none.worth.example\n');
    lists.serve('/worth-2', 'both.worth.example\n');
    const one = await api.addSource({ name: 'worth', url: lists.url('/worth-1') });
    const two = await api.addSource({ name: 'worth', url: lists.url('/worth-2') });
    const names = ['both.worth.example', 'one.worth.example', 'both.worth.example'];
    for (const name of names) expect(await answerOf(name)).toBe(BLOCKED);
    await api.expect(200, 'PUT', `/blocklist-sources/${String(one.id)}`, { name: 'renamed' });
    const worthOf = async (period: string): Promise<SourceStatsList> => {
      const rows = await api.expect<SourceStatsList>(200, 'GET', `/blocklist-sources/stats?period=${period}`);
      return rows.filter(({ id }) => id === one.id || id === two.id);
    };
    const expected = [
      { id: one.id, hits: 3, sole_hits: 1, rules: 2, unique_rules: 1, safe_search_exceptions: [] },
      { id: two.id, hits: 2, sole_hits: 0, rules: 1, unique_rules: 0, safe_search_exceptions: [] },
    ];
    // Rows are logged after the answers are sent, so the statistics lag.
    const day = await until(
      'what each list has blocked',
      () => worthOf('24h'),
      ([first]) => first?.hits === names.length,
    );
    expect([day, await worthOf('7d')]).toEqual([expected, expected]);
    for (const { id } of [one, two]) await api.expect(204, 'DELETE', `/blocklist-sources/${String(id)}`);
    expect(await worthOf('24h')).toEqual([]);
    expect((await api.call('GET', '/blocklist-sources/stats?period=1y')).status).toBe(400);
  });

  test('reports a list whose first fetch fails as not active, and rejects files outside the list folders', async () => {
    expect((await weir.health()).body.checks.filters.status).toBe('ok');
    const source = await api.addSource({ name: 'missing', url: lists.url('/nowhere') });
    expect(source.status).toBe('error');
    expect((await weir.health()).body.checks.filters.status).toBe('degraded');
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
    expect((await weir.health()).body.checks.filters.status).toBe('ok');
    const outside = { name: 'outside', url: 'file:///etc/hostname' };
    expect(await api.call('POST', '/blocklist-sources', outside)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'url' }] },
    });
  });

  test('blocks an answer that contains a listed address, even from the cache, and explains the block', async () => {
    expect(await answerOf('by-address.example')).toBe(EVERY_ADDRESS);
    lists.serve('/addresses', `# addresses\n${EVERY_ADDRESS}\n2001:db8::7\n`);
    const source = await api.addSource({ name: 'addresses', url: lists.url('/addresses') });
    expect(await answerOf('by-address.example')).toBe(BLOCKED);
    expect(await answerOf('new-by-address.example')).toBe(BLOCKED);
    const path = '/explain?domain=by-address.example&type=A&client=127.0.0.1';
    expect(await api.expect(200, 'GET', path)).toMatchObject({
      status: 'BLOCKED_LIST',
      decided_by: { origin: 'list', rule: EVERY_ADDRESS, source: 'addresses', line: 2 },
    });
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
    expect(await answerOf('by-address.example')).toBe(EVERY_ADDRESS);
  });

  test('blocks an answer by a list prefix that contains its address, and explains and finds the rule', async () => {
    expect(await answerOf('by-prefix.example')).toBe(EVERY_ADDRESS);
    const [first = '', second = '', third = ''] = EVERY_ADDRESS.split('.');
    const prefix = `${first}.${second}.${third}.0/24`;
    lists.serve(
      '/prefixes',
      `$TTL 60\n@ SOA a. b. 1 2 3 4 5\n24.0.${third}.${second}.${first}.rpz-ip CNAME .\n`,
    );
    const source = await api.addSource({ name: 'prefixes', url: lists.url('/prefixes') });
    expect(await answerOf('by-prefix.example')).toBe(BLOCKED);
    const path = '/explain?domain=by-prefix.example&type=A&client=127.0.0.1';
    expect(await api.expect<ExplainAnswer>(200, 'GET', path)).toMatchObject({
      status: 'BLOCKED_LIST',
      decided_by: { origin: 'list', rule: prefix, source: 'prefixes', line: 3 },
    });
    const found = await api.expect<CompiledRulePage>(200, 'GET', `/blocklist?search=${first}.${second}`);
    expect(found.data).toContainEqual(expect.objectContaining({ domain: prefix, sources: ['prefixes'] }));
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
    expect(await answerOf('by-prefix.example')).toBe(EVERY_ADDRESS);
  });

  test('applies a $client rule with a client name as soon as a client has that name', async () => {
    lists.serve('/named', `||named.example^$client="Mary's tablet"\n||other.example^\n`);
    const source = await api.addSource({ name: 'named', url: lists.url('/named') });
    expect(await answerOf('other.example')).toBe(BLOCKED);
    expect(await answerOf('named.example')).toBe(EVERY_ADDRESS);
    const client = { ip_address: '127.0.0.1', name: "Mary's Tablet" };
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/clients', client);
    expect(await answerOf('named.example')).toBe(BLOCKED);
    await api.expect(200, 'PATCH', `/clients/${String(id)}`, { name: 'something else' });
    expect(await answerOf('named.example')).toBe(EVERY_ADDRESS);
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
  });

  test('redirects a name by a $dnsrewrite rule, and returns the addresses of the target', async () => {
    lists.serve('/rewrites', '||popup.example^$dnsrewrite=sink.example.net\n||sink.example.net^\n');
    const source = await api.addSource({ name: 'rewrites', url: lists.url('/rewrites') });
    const wanted = ['sink.example.net', EVERY_ADDRESS];
    expect((await udp.ask('www.popup.example', 'A')).data).toEqual(wanted);
    expect((await udp.ask('www.popup.example', 'A')).data).toEqual(wanted);
    expect((await udp.ask('www.popup.example', 'CNAME')).data).toEqual(['sink.example.net']);
    const filter = 'domain=www.popup.example';
    await api.untilQueryCount(3, filter);
    for (const row of await api.queries(filter))
      expect(row).toMatchObject({
        status: 'LOCAL',
        block_source: 'rewrites',
        block_rule: '||popup.example^$dnsrewrite=sink.example.net',
      });
    const path = '/explain?domain=popup.example&type=A&client=127.0.0.1';
    expect(await api.expect(200, 'GET', path)).toMatchObject({
      status: 'LOCAL',
      decided_by: { source: 'rewrites', line: 1 },
      answer: { answers: [{ type: 'CNAME', data: 'sink.example.net' }, { data: EVERY_ADDRESS }] },
    });
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
    expect(await answerOf('www.popup.example')).toBe(EVERY_ADDRESS);
  });

  test('holds a list update that would block the most queried names until it is approved', async () => {
    lists.serve('/held', 'one.example\n');
    const source = await api.addSource({ name: 'held', url: lists.url('/held') });
    for (let times = 0; times < 20; times++) await answerOf('popular.example');
    await api.untilQueryCount(20, 'domain=popular.example');
    lists.serve('/held', 'one.example\npopular.example\n');
    const path = `/blocklist-sources/${String(source.id)}`;
    await api.expect(202, 'POST', `${path}/refresh`);
    const held = await api.settledSource(source.id);
    expect(held).toMatchObject({
      status: 'held',
      rules: 1,
      last_error: expect.stringContaining('popular.example') as unknown,
      held: {
        reason: 'blocks_names',
        rules: 2,
        rules_in_force: 1,
        names: ['popular.example'],
        name_count: 1,
      },
    });
    expect(await answerOf('popular.example')).toBe(EVERY_ADDRESS);
    const approved = await api.expect<BlocklistSource>(200, 'POST', `${path}/approve`);
    expect(approved).toMatchObject({ status: 'ok', rules: 2, last_error: null, held: null });
    expect(await answerOf('popular.example')).toBe(BLOCKED);
  });

  test('rejects a list line or filter that would block every name', async () => {
    lists.serve('/anchor', '||two.wide.example^\n^\n');
    const source = await api.addSource({ name: 'anchor', url: lists.url('/anchor') });
    expect(source).toMatchObject({ status: 'ok', rules: 1, invalid_lines: 1 });
    expect([await answerOf('two.wide.example'), await answerOf('free.example')]).toEqual([
      BLOCKED,
      EVERY_ADDRESS,
    ]);
    const filter = await api.expect<{ id: number }>(201, 'POST', '/regex-filters', { pattern: '\\.[0-9]+$' });
    expect(await answerOf('free.example')).toBe(EVERY_ADDRESS);
    await api.expect(204, 'DELETE', `/regex-filters/${String(filter.id)}`);
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(source.id)}`);
  });

  test('holds a new list with a rule for every name until it is approved', async () => {
    lists.serve('/wide', 'one.wide.example\n/./$client=127.0.0.1\n');
    const source = await api.addSource({ name: 'wide', url: lists.url('/wide') });
    const wide = [{ line: 2, rule: '/./$client=127.0.0.1' }];
    expect(source).toMatchObject({
      status: 'held',
      held: { reason: 'every_name', rules: 2, rules_in_force: 0, wide_rules: wide },
    });
    expect([await answerOf('one.wide.example'), await answerOf('free.example')]).toEqual([
      EVERY_ADDRESS,
      EVERY_ADDRESS,
    ]);
    const path = `/blocklist-sources/${String(source.id)}`;
    expect(await api.expect(200, 'POST', `${path}/approve`)).toMatchObject({
      status: 'ok',
      rules: 2,
      held: null,
    });
    expect([await answerOf('one.wide.example'), await answerOf('free.example')]).toEqual([BLOCKED, BLOCKED]);
    await api.expect(204, 'DELETE', path);
    expect(await answerOf('free.example')).toBe(EVERY_ADDRESS);
  });

  test("rolls back to a user's revision, keeps list updates, and records a new revision", async () => {
    lists.serve('/back', 'then.example\n');
    const source = await api.addSource({ name: 'back', url: lists.url('/back') });
    const [then] = await api.expect<Revision[]>(200, 'GET', '/revisions');
    lists.serve('/back', 'then.example\nnow.example\n');
    await api.expect(202, 'POST', `/blocklist-sources/${String(source.id)}/refresh`);
    await api.settledSource(source.id);
    await api.expect(201, 'POST', '/managed-domains', { domain: 'now-too.example' });
    expect([await answerOf('now.example'), await answerOf('now-too.example')]).toEqual([BLOCKED, BLOCKED]);
    await api.expect(200, 'POST', `/revisions/${String(then!.id)}/rollback`);
    const answers = ['then.example', 'now.example', 'now-too.example'].map((name) => answerOf(name));
    expect(await Promise.all(answers)).toEqual([BLOCKED, BLOCKED, EVERY_ADDRESS]);
    const [newest] = await api.expect<Revision[]>(200, 'GET', '/revisions');
    expect(newest).toMatchObject({ author: 'admin', summary: `rolled back to revision ${String(then!.id)}` });
    const nodes = await api.expect<ClusterNode[]>(200, 'GET', '/nodes');
    expect(nodes).toMatchObject([{ policy_revision: newest!.id, lag_ms: 0 }]);
    expect(Date.parse(nodes[0]!.last_seen)).toBeGreaterThan(startedMs);
  });
});
