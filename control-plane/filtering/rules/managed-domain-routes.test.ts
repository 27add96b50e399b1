/** Managed domains over HTTP; separate suites test their effect on answers. */
import { describe, expect, test } from '@jest/globals';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { managedDomainRoutes } from './managed-domain-routes.ts';
import { ManagedDomain, ManagedDomainPage } from '../../../shared/api/policy/rules-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [...managedDomainRoutes(parts), ...groupRoutes(parts)];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const DOMAINS = '/api/managed-domains';

async function newGroup(name: string): Promise<number> {
  const answer = await api.send('POST', '/api/groups', { json: { name } });
  return (answer.body as { id: number }).id;
}

describe('managed domains over the API', () => {
  const post = (json: unknown): Promise<TestAnswer> => api.send('POST', DOMAINS, { json });

  test('are created, read, changed and deleted, and each change is active when its response arrives', async () => {
    const before = api.policyChanges;
    const created = await post({ name: 'No ads', domain: 'Ads.Example.ORG.', action: 'deny' });
    expect(created.status).toBe(201);
    const domain = ManagedDomain.parse(created.body);
    expect(domain).toMatchObject({
      name: 'No ads',
      domain: 'ads.example.org',
      action: 'deny',
      group_id: null,
      comment: '',
      enabled: true,
    });
    const path = `${DOMAINS}/${domain.id}`;
    expect((await api.send('GET', path)).body).toEqual(domain);
    const group = await newGroup('kids');
    const changed = await api.send('PUT', path, { json: { action: 'allow', group_id: group, comment: 'x' } });
    expect(changed.status).toBe(200);
    expect(ManagedDomain.parse(changed.body)).toMatchObject({
      domain: 'ads.example.org',
      action: 'allow',
      group_id: group,
      comment: 'x',
    });
    const global = await api.send('PUT', path, { json: { group_id: null } });
    expect(ManagedDomain.parse(global.body).group_id).toBeNull();
    expect((await api.send('DELETE', path)).status).toBe(204);
    expect((await api.send('GET', path)).status).toBe(404);
    expect((await api.send('PUT', path, { json: { name: 'x' } })).status).toBe(404);
    expect((await api.send('DELETE', path)).status).toBe(404);
    expect(api.policyChanges - before).toBe(5);
  });

  test.each([
    ['*.Example.org', '*.example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.BÜCHER.example.', '*.xn--bcher-kva.example'],
    ['_dmarc.example.org', '_dmarc.example.org'],
    ['  example.net ', 'example.net'],
    ['zip', 'zip'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('store the domain %j as %j', async (written, kept) => {
    const answer = await post({ domain: written, action: 'deny' });
    expect([answer.status, ManagedDomain.parse(answer.body).domain]).toEqual([201, kept]);
    expect(ManagedDomain.parse(answer.body).name).toBe(kept);
  });

  test.each([
    '',
    '.',
    '*.',
    '*',
    'a..example',
    'a b.example',
    '-a.example',
    'https://a.example/',
    'a.example/path',
    '192.0.2.1',
    '2001:db8::1',
    '*.*.example',
    'a.*.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
    'a\u0000.example',
    7,
    null,
  ])('refuse the domain %j', async (domain) => {
    const answer = await post({ domain, action: 'deny' });
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'domain']);
  });

  test.each([
    [{}, ['domain']],
    [{ domain: 'a.example', action: 'block' }, ['action']],
    [{ domain: 'a.example', group_id: 'one', enabled: 1 }, ['group_id', 'enabled']],
    [{ domain: 'a.example', id: 4, kind: 'x' }, ['id', 'kind']],
    [{ domain: 'a.example', group_id: 4711 }, ['group_id']],
  ])('refuse %j and name every invalid field', async (json, paths) => {
    const answer = await post(json);
    expect([answer.status, answer.problem.errors!.map(({ path }) => path)]).toEqual([400, paths]);
  });

  test('are refused with 409 if a rule with the same domain (in any letter case), action and group exists', async () => {
    const group = await newGroup('kids');
    expect((await post({ domain: 'a.example', action: 'deny' })).status).toBe(201);
    expect((await post({ domain: 'A.EXAMPLE.', action: 'deny' })).problem.error).toBe('conflict');
    expect((await post({ domain: 'a.example', action: 'allow' })).status).toBe(201);
    const grouped = await post({ domain: 'a.example', action: 'deny', group_id: group });
    expect(grouped.status).toBe(201);
    const { id } = ManagedDomain.parse(grouped.body);
    const moved = await api.send('PUT', `${DOMAINS}/${id}`, { json: { group_id: null } });
    expect(moved.status).toBe(409);
  });

  test('are listed in pages and can be searched', async () => {
    for (const name of ['a', 'b', 'c']) await post({ domain: `${name}.example`, comment: `Number ${name}` });
    const page = ManagedDomainPage.parse((await api.send('GET', `${DOMAINS}?limit=2&offset=1`)).body);
    expect([page.total, page.data.map(({ domain }) => domain)]).toEqual([3, ['b.example', 'c.example']]);
    const found = ManagedDomainPage.parse((await api.send('GET', `${DOMAINS}?search=NUMBER%20c`)).body);
    expect([found.total, found.data.map(({ domain }) => domain)]).toEqual([1, ['c.example']]);
    expect((await api.send('GET', `${DOMAINS}?limit=1001`)).status).toBe(400);
  });

  test('keep their group from being deleted', async () => {
    const group = await newGroup('kids');
    await post({ domain: 'a.example', group_id: group });
    expect((await api.send('DELETE', `/api/groups/${group}`)).status).toBe(409);
  });

  test('are part of the policy while they are enabled', async () => {
    await post({ name: 'one', domain: '*.a.example', action: 'deny' });
    await post({ name: 'two', domain: 'b.example', action: 'allow', enabled: false });
    const { managedDomains } = await readPolicyRows(suite.database, () => undefined);
    expect(managedDomains).toEqual([
      {
        id: expect.any(Number),
        name: 'one',
        domain: 'a.example',
        suffix: true,
        action: 'deny',
        groupId: null,
      },
    ]);
  });
});
