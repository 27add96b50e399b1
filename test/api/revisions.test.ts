/**
 * Revisions and rollbacks over HTTP and in the database. `list-sources.test.ts` tests how list contents are restored.
 */
import { describe, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../shared/policy/changes/change-codes.ts';
import { asOwner } from '../support/parts/as-owner.ts';
import { PolicyChanges } from '../../control-plane/policy/change/change.ts';
import { readPolicyRows } from '../../control-plane/policy/change/policy-store.ts';
import { Revision, RevisionDetail, RevisionList } from '../../shared/api/revisions-api.ts';
import { everyRoute } from '../support/parts/every-route.ts';
import { RunningApi } from '../support/parts/running-api.ts';
import type { TestAnswer } from '../support/parts/running-api.ts';
import { serveSuite } from '../support/parts/served-suite.ts';
import type { SuiteDatabase } from '../support/parts/suite-database.ts';

let activated = 0;
const activateRestored = async (): Promise<void> => {
  activated += 1;
};
let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(everyRoute({ activateRestored }), (served) => ({ suite, api } = served));

const post = (path: string, json: unknown): Promise<TestAnswer> => api.send('POST', `/api${path}`, { json });
const revisions = async (): Promise<Revision[]> =>
  RevisionList.parse((await api.send('GET', '/api/revisions')).body);
const rows = () =>
  readPolicyRows(suite.database, () => ({ serviceName: 's', domains: ['s.example'], exact: [] }));
const rollBack = (id: number): Promise<TestAnswer> => api.send('POST', `/api/revisions/${id}/rollback`);

/** Every row of the tables that a rollback restores exactly, by table. */
async function everyRow(): Promise<Record<string, unknown>> {
  const tables = [
    ...['managed_domains', 'regex_filters', 'custom_services', 'blocked_services', 'forward_zones'],
    ...['local_records', 'schedule_profiles', 'schedule_slots', 'group_schedules', 'client_subnets'],
    ...['config_values', 'safe_search_configs', 'list_source_groups'],
  ];
  const columns = tables.map((name) => `(SELECT json_agg(t ORDER BY t::text) FROM ${name} t) AS ${name}`);
  const { rows: found } = await suite.database.query(`SELECT ${columns.join(', ')}`);
  return found[0]!;
}

describe('a change that is stored but not active', () => {
  test('is answered with 503 and its revision, or without a revision if it creates none', async () => {
    const policy = new PolicyChanges(suite.database, {
      apply: () => Promise.reject(new Error('of the log only')),
      threadsBehind: () => 0,
    });
    const other = await RunningApi.start(suite.database, everyRoute(), { policy });
    const made = await other.send('POST', '/api/groups', { json: { name: 'kids' } });
    const switched = await other.send('POST', '/api/blocking', { json: { enabled: false } });
    await other.close();
    const [{ id, summary }] = (await revisions()) as [Revision];
    expect(summary).toBe('group kids: created');
    expect(made.headers['retry-after']).toBeUndefined();
    expect(made.problem).toMatchObject({ status: 503, error: 'not_in_force', stored: true, revision: id });
    expect(made.problem.detail).not.toContain('of the log only');
    expect(switched.problem).toMatchObject({ error: 'not_in_force', stored: true });
    expect(switched.problem).not.toHaveProperty('revision');
    expect(other.logger.lines.map(({ fields }) => JSON.stringify(fields)).join()).toContain(
      'of the log only',
    );
  });
});

describe('GET revisions/{id}', () => {
  const detail = async (id: number): Promise<RevisionDetail> =>
    RevisionDetail.parse((await api.send('GET', `/api/revisions/${id}`)).body);

  test('shows each changed row before and after; the response to a change contains its revision', async () => {
    const made = await post('/groups', { name: 'kids' });
    const group = (made.body as { id: number }).id;
    const revision = Number(made.headers['weir-revision']);
    expect(await detail(revision)).toMatchObject({
      ...{ id: revision, summary: 'group kids: created', ip_address: '127.0.0.1', left_out: 0 },
      codes: { subject: codedSubject('group', { name: 'kids' }), action: codedAction('created') },
      changes: [
        { table: 'groups', key: String(group), before: null, after: { name: 'kids', enabled: true } },
      ],
    });
    const renamed = await api.send('PUT', `/api/groups/${group}`, { json: { name: 'teens' } });
    expect((await detail(Number(renamed.headers['weir-revision']))).changes).toMatchObject([
      { table: 'groups', before: { name: 'kids' }, after: { name: 'teens' } },
    ]);
    await post(`/safe-search/configs/${group}`, { engine: 'bing' });
    await post('/managed-domains', { domain: 'a.example', group_id: group });
    const back = await rollBack(revision);
    const { changes } = await detail(Number(back.headers['weir-revision']));
    expect(
      changes!.map(({ table, key, after }) => [table, key, (after as { name?: string } | null)?.name]),
    ).toEqual([
      ['groups', String(group), 'kids'],
      ['managed_domains', expect.any(String), undefined],
      ['safe_search_configs', `${group} bing`, undefined],
    ]);
    await asOwner(suite.database, 'TRUNCATE audit_log');
    expect(await detail(revision)).toMatchObject({ id: revision, changes: null });
    expect((await api.send('GET', '/api/revisions/2147483647')).status).toBe(404);
  });

  test('masks credentials in the changed rows', async () => {
    await suite.database.query(
      `INSERT INTO list_sources (name, url) VALUES ('ads', 'https://me:hunter2@lists.example/')`,
    );
    const changed = await new PolicyChanges(suite.database, {
      apply: async () => {},
      threadsBehind: () => 0,
    }).changeWithRevision({ name: 'x', address: null }, async (tx) => {
      await tx.query(`UPDATE list_sources SET enabled = false`);
      const subject = codedSubject('blocklist', { name: 'ads' });
      return { result: 1, summary: { subject, action: codedAction('changed') } };
    });
    const answer = await api.send('GET', `/api/revisions/${changed.revision}`);
    expect(answer.text).toContain('https://***@lists.example/');
    expect(answer.text).not.toContain('hunter2');
  });
});

describe('a rollback with expected_head', () => {
  test('is 409 and lists the newer changes that it would undo, if there are any', async () => {
    const kids = await post('/groups', { name: 'kids' });
    const head = await post('/managed-domains', { domain: 'a.example' });
    const [first, second] = [kids, head].map(({ headers }) => Number(headers['weir-revision']));
    await post('/managed-domains', { domain: 'b.example' });
    const before = await rows();
    const back = (expected: number): Promise<TestAnswer> =>
      api.send('POST', `/api/revisions/${first}/rollback?expected_head=${expected}`);
    const refused = await back(second!);
    expect([refused.status, refused.problem.error]).toEqual([409, 'conflict']);
    expect(refused.problem.detail).toContain(
      `${second! + 1} (admin: managed domain b.example (deny): created)`,
    );
    const unknown = await back(second! + 9);
    expect([unknown.status, unknown.problem.detail]).toEqual([
      409,
      `revision ${second! + 9} does not exist; the newest one is ${second! + 1}`,
    ]);
    expect(await rows()).toEqual(before);
    expect((await back(second! + 1)).status).toBe(200);
  });
});

describe('revisions', () => {
  test('show author and change, newest first; a failed change creates no revision', async () => {
    await post('/groups', { name: 'kids' });
    await post('/managed-domains', { domain: 'a.example', action: 'deny' });
    await post('/managed-domains', { domain: 'a.example', action: 'deny' });
    await post('/services', { service_id: 'netflix', group_id: 1 });
    expect((await revisions()).map(({ summary, author }) => [author, summary])).toEqual([
      [expect.any(String), 'service netflix: blocked for group 1'],
      [expect.any(String), 'managed domain a.example (deny): created'],
      [expect.any(String), 'group kids: created'],
    ]);
  });

  test('are not created by a request that changes nothing', async () => {
    const made = async (path: string, json: unknown): Promise<number> =>
      ((await post(path, json)).body as { id: number }).id;
    const kids = await made('/groups', { name: 'kids' });
    const domain = await made('/managed-domains', { domain: 'a.example', action: 'deny' });
    const client = await made('/clients', { ip_address: '192.0.2.7', name: 'tablet', group_id: kids });
    await post(`/safe-search/configs/${kids}`, { engine: 'google', enabled: true });
    const before = await revisions();
    const again: [string, string, unknown][] = [
      ['PUT', `/groups/${kids}`, { name: 'kids' }],
      ['PUT', `/managed-domains/${domain}`, { domain: 'a.example', action: 'deny' }],
      ['PATCH', `/clients/${client}`, { name: 'tablet' }],
      ['PUT', `/clients/${client}/group`, { group_id: kids }],
      ['POST', `/safe-search/configs/${kids}`, { engine: 'google', enabled: true }],
    ];
    for (const [method, path, json] of again) {
      const { status } = await api.send(method, `/api${path}`, { json });
      expect([path, status < 300]).toEqual([path, true]);
    }
    expect((await rollBack(before[0]!.id)).body).toEqual(before[0]);
    expect(await revisions()).toEqual(before);
    await api.send('PATCH', `/api/clients/${client}`, { json: { name: 'phone' } });
    expect(await revisions()).toHaveLength(before.length + 1);
  });

  test('restore every kind of rule in one request, which creates a revision', async () => {
    const group = ((await post('/groups', { name: 'kids' })).body as { id: number }).id;
    const domain = (await post('/managed-domains', { domain: 'a.example', action: 'deny', group_id: group }))
      .body as { id: number };
    await post('/regex-filters', { pattern: '^ads', action: 'deny' });
    await post('/services/custom', { name: 'Mine', category: 'adult', domains: ['mine.example'] });
    await post('/services', { service_id: 'custom-mine', group_id: group });
    await suite.database.query(
      `INSERT INTO list_sources (id, name, url, content_key) VALUES (900, 'ads', 'http://l.example/', 'one')`,
    );
    await post('/services', { service_id: 'netflix', group_id: 1 });
    const good = await rows();
    const [{ id }] = (await revisions()) as [Revision];

    await api.send('DELETE', `/api/managed-domains/${domain.id}`);
    await post('/managed-domains', { domain: 'b.example', action: 'allow' });
    await api.send('DELETE', '/api/custom-services/custom-mine');
    await api.send('PUT', `/api/groups/${group}`, { json: { name: 'renamed', enabled: false } });
    await suite.database.query(
      `UPDATE list_sources SET name = 'other', enabled = false, content_key = 'two'`,
    );
    await suite.database.query(`INSERT INTO list_sources (name, url) VALUES ('new', 'http://n.example/')`);
    const newer = ((await post('/groups', { name: 'newer' })).body as { id: number }).id;

    activated = 0;
    const answer = await rollBack(id);
    expect([answer.status, Revision.parse(answer.body).summary]).toEqual([
      200,
      `rolled back to revision ${id}`,
    ]);
    expect(activated).toBe(1);
    expect((await revisions())[0]).toEqual(answer.body);
    const { groups, ...others } = await rows();
    const { groups: goodGroups, ...goodOthers } = good;
    expect(others).toEqual(goodOthers);
    expect(groups).toEqual(goodGroups);
    expect(goodGroups.map((one) => one.id)).not.toContain(newer);
    const { rows: sources } = await suite.database.query(
      'SELECT name, content_key, held_key, held, status, last_error FROM list_sources',
    );
    // SQL makes the same change here as an edit by a user.
    expect(sources).toEqual([
      {
        name: 'ads',
        content_key: 'one',
        held_key: 'two',
        held: { reason: 'undone', rules: 0, rules_in_force: 0, names: [], name_count: 0 },
        status: 'held',
        last_error: `held: undone by rolling back to revision ${id}`,
      },
    ]);
    // Undoes the rollback.
    const undone = await rollBack((await revisions())[1]!.id);
    expect(undone.status).toBe(200);
    expect((await rows()).managedDomains.map(({ domain: name }) => name)).toEqual(['b.example']);
  });

  test('restore every row of every table between any two revisions', async () => {
    const put = (path: string, json: unknown): Promise<TestAnswer> =>
      api.send('PUT', `/api${path}`, { json });
    const remove = (path: string): Promise<TestAnswer> => api.send('DELETE', `/api${path}`);
    const made = async (answer: Promise<TestAnswer>): Promise<number> =>
      ((await answer).body as { id: number }).id;
    await api.parts.configuration.settle(api.parts.policy);
    let kids = 0;
    let profile = 0;
    let subnet = 0;
    let record = 0;
    const slot = { days: 3, start_time: '08:00', end_time: '09:00', action: 'block_all' };
    const steps: (() => Promise<unknown>)[] = [
      async () => (kids = await made(post('/groups', { name: 'kids' }))),
      async () => {
        subnet = await made(post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: kids }));
      },
      () => post('/client-subnets', { subnet_cidr: '2001:db8::/32', group_id: 1, comment: "it's \\ odd" }),
      async () => {
        profile = await made(post('/schedule-profiles', { name: 'school', timezone: 'Europe/Berlin' }));
      },
      () => post(`/schedule-profiles/${profile}/slots`, slot),
      () => put(`/groups/${kids}/schedule`, { profile_id: profile }),
      () => post('/forward-zones', { zone: 'corp.example.org', servers: ['192.0.2.53'] }),
      async () => {
        record = await made(post('/local-records', { fqdn: 'a.example.org', value: '192.0.2.1' }));
      },
      () => post(`/safe-search/configs/${kids}`, { engine: 'google', enabled: true }),
      () => put('/settings', { never_forward_non_fqdn: true }),
      () => post('/services', { service_id: 'netflix', group_id: kids }),
      () => put(`/local-records/${record}`, { value: '192.0.2.2' }),
      () => put(`/schedule-profiles/${profile}`, { comment: 'changed, its slots are not' }),
      () => remove(`/client-subnets/${subnet}`),
      () => post('/client-subnets', { subnet_cidr: '192.0.2.0/24', group_id: 1 }),
      () => remove(`/schedule-profiles/${profile}`),
      () => remove(`/groups/${kids}`),
      () => remove(`/local-records/${record}`),
    ];
    const then: { id: number; rows: Record<string, unknown> }[] = [];
    for (const step of steps) {
      await step();
      const [{ id }] = (await revisions()) as [Revision];
      expect(id).not.toBe(then.at(-1)?.id);
      then.push({ id, rows: await everyRow() });
    }
    // Each of these rollbacks creates a revision itself.
    for (const place of [0, 12, 17, 5, 14, 6, 15, 9, 16, 10, 13, 11, 12, 1, 4, 2]) {
      const { id, rows: expected } = then[place]!;
      expect([id, (await rollBack(id)).status]).toEqual([id, 200]);
      expect(await everyRow()).toEqual(expected);
    }
  });

  test('are 404 if unknown, 409 if too old, and 400 if the ID is not a number', async () => {
    for (let index = 0; index < 102; index++) await post('/managed-domains', { domain: `n${index}.example` });
    const all = await revisions();
    expect(all).toHaveLength(102);
    expect(all.filter(({ can_rollback: can }) => can)).toHaveLength(100);
    expect((await rollBack(all[101]!.id)).problem.error).toBe('conflict');
    expect((await rollBack(all[99]!.id)).status).toBe(200);
    expect((await rows()).managedDomains).toHaveLength(3);
    const { rows: noted } = await suite.database.query<{ kept: number; needed: number }>(
      `SELECT (SELECT min(seq) FROM policy_changes)::integer AS kept,
         (SELECT last_change FROM revisions WHERE id = $1)::integer AS needed`,
      [all[98]!.id],
    );
    expect(noted[0]!.kept).toBeGreaterThan(noted[0]!.needed);
    expect((await rollBack(2_000_000_000)).status).toBe(404);
    expect((await rollBack(Number.NaN)).status).toBe(400);
  });

  test('change nothing if they cannot be restored', async () => {
    await suite.database.query(
      `INSERT INTO list_sources (id, name, url) VALUES (900, 'a', 'http://a.example/'), (901, 'b', 'http://b.example/')`,
    );
    const made = await post('/managed-domains', { domain: 'a.example' });
    const exchange = [
      `UPDATE list_sources SET url = 'http://c.example/' WHERE id = 900`,
      `UPDATE list_sources SET url = 'http://a.example/' WHERE id = 901`,
      `UPDATE list_sources SET url = 'http://b.example/' WHERE id = 900`,
    ];
    for (const text of exchange) await suite.database.query(text);
    await post('/managed-domains', { domain: 'stays.example' });
    expect((await rollBack(Number(made.headers['weir-revision']))).status).toBe(409);
    expect((await rows()).managedDomains).toHaveLength(2);
  });

  test('restore groups whose former names now belong to other groups', async () => {
    const made = async (name: string): Promise<number> =>
      ((await post('/groups', { name })).body as { id: number }).id;
    const [kids, teens] = [await made('kids'), await made('teens'), await made('guests')];
    const before = (await api.send('GET', '/api/groups')).body;
    const [{ id }] = (await revisions()) as [Revision];
    const rename = (group: number, name: string): Promise<TestAnswer> =>
      api.send('PUT', `/api/groups/${group}`, { json: { name } });
    await rename(kids, 'x');
    await rename(teens, 'kids');
    await rename(kids, 'teens');
    await api.send('DELETE', `/api/groups/${teens + 1}`);
    await made('Guests');
    expect((await rollBack(id)).status).toBe(200);
    expect((await api.send('GET', '/api/groups')).body).toEqual(before);
  });
});
