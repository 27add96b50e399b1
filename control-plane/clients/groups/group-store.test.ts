/** Deleting a group and all rows that refer to it, and undoing the deletion, over HTTP and in the database. */
import { describe, expect, test } from '@jest/globals';
import { Client, ClientPage } from '../../../shared/api/policy/clients-api.ts';
import { type Revision, RevisionList } from '../../../shared/api/revisions-api.ts';
import { clientSuite } from '../../../test/support/parts/client-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';

const clients = clientSuite();

const remove = (query = '?cascade=true'): Promise<TestAnswer> =>
  clients.api.send('DELETE', `/api/groups/${clients.kids}${query}`);
const rollBack = (id: number): Promise<TestAnswer> => clients.post(`/revisions/${id}/rollback`, {});
const groupOf = async (id: number): Promise<number> =>
  Client.parse((await clients.get(`/clients/${id}`)).body).group_id;
const lastRevisions = async (): Promise<Revision[]> =>
  RevisionList.parse((await clients.get('/revisions')).body);

/** Every row of policy that refers to a group. */
async function references(): Promise<unknown> {
  const tables = ['groups', 'client_subnets', 'list_source_groups', 'managed_domains', 'regex_filters'];
  const columns = [...tables, 'blocked_services', 'safe_search_configs', 'group_schedules'].map(
    (name) => `(SELECT json_agg(t ORDER BY t::text) FROM ${name} t) AS ${name}`,
  );
  const { rows } = await clients.suite.database.query(`SELECT ${columns.join(', ')},
    (SELECT json_agg(json_build_array(id, group_id) ORDER BY id) FROM clients) AS clients`);
  return rows[0];
}

/** Adds a list for these groups. */
async function addList(name: string, ...groupIds: number[]): Promise<void> {
  await clients.suite.database.query(
    `WITH s AS (INSERT INTO list_sources (name, url) VALUES ($1, 'https://lists.example/' || $1) RETURNING id)
     INSERT INTO list_source_groups SELECT id, unnest($2::integer[]) FROM s`,
    [name, groupIds],
  );
}

/** Gives the group clients, a network, lists, rules, a service, safe search and a schedule; returns its client. */
async function fill(): Promise<Client> {
  const { kids } = clients;
  const client = await clients.create({ ip_address: '192.0.2.7', name: 'tablet', group_id: kids });
  await addList('shared', kids, 1);
  await clients.suite.database.query(
    `WITH p AS (INSERT INTO schedule_profiles (name, timezone) VALUES ('night', 'UTC') RETURNING id),
      s AS (INSERT INTO group_schedules (group_id, profile_id) SELECT $1, id FROM p),
      d AS (INSERT INTO managed_domains (name, domain, action, group_id) VALUES ('', 'a.example', 'deny', $1),
        ('', 'b.example', 'deny', NULL)),
      r AS (INSERT INTO regex_filters (name, pattern, action, group_id) VALUES ('', '^ads', 'deny', $1)),
      b AS (INSERT INTO blocked_services (service_id, group_id) VALUES ('netflix', $1))
    INSERT INTO safe_search_configs (group_id, engine, enabled, youtube_mode) VALUES ($1, 'google', true, 'strict')`,
    [kids],
  );
  // The rows above are part of the revision of this change.
  await clients.post('/client-subnets', { subnet_cidr: '198.51.100.0/24', group_id: kids });
  return client;
}

describe('DELETE /groups/{id}', () => {
  test('with cascade deletes all objects that refer to the group, in one revision', async () => {
    const client = await fill();
    const before = (await lastRevisions()).length;
    const answer = await remove();
    expect(answer.status).toBe(204);
    const [newest, ...older] = await lastRevisions();
    expect([newest!.summary, older.length]).toEqual(['group Kids: deleted', before]);
    expect(answer.headers['weir-revision']).toBe(String(newest!.id));
    expect(await groupOf(client.id)).toBe(1);
    const { groups, managedDomains, ...rows } = await clients.rows();
    expect([groups.map(({ id }) => id), managedDomains.map(({ domain }) => domain)]).toEqual([
      [1],
      ['b.example'],
    ]);
    expect(rows).toMatchObject({ clients: [], subnets: [], regexFilters: [], blockedServices: [] });
    expect(rows.sources.map(({ groupIds }) => groupIds)).toEqual([[1]]);
    const { body } = await clients.get(`/revisions/${newest!.id}`);
    expect(body).toMatchObject({
      changes: expect.arrayContaining([
        expect.objectContaining({
          table: 'clients',
          before: expect.objectContaining({ group_id: clients.kids }),
          after: expect.objectContaining({ group_id: null }),
        }),
      ]),
    });
  });

  test('with cascade is undone by one rollback, which also restores the clients of the group', async () => {
    const client = await fill();
    const before = await references();
    const [revision] = await lastRevisions();
    await remove();
    expect((await rollBack(revision!.id)).status).toBe(200);
    expect(await references()).toEqual(before);
    expect(await groupOf(client.id)).toBe(clients.kids);
  });

  test('when undone, moves clients back to the group even if they were assigned to another group since', async () => {
    const client = await fill();
    const other = await clients.createGroup('Guests');
    const [revision] = await lastRevisions();
    await remove();
    await clients.move(client.id, other);
    expect((await rollBack(revision!.id)).status).toBe(200);
    expect(await groupOf(client.id)).toBe(clients.kids);
    expect((await clients.get(`/groups/${other}`)).status).toBe(200);
  });

  test('when undone repeatedly, gives a client its earlier group each time', async () => {
    const client = await fill();
    const [revision] = await lastRevisions();
    await remove();
    await rollBack(revision!.id);
    // A user lets the network determine the group.
    const cleared = await clients.api.send('PATCH', `/api/clients/${client.id}`, {
      json: { group_id: null },
    });
    expect([cleared.status, await groupOf(client.id)]).toEqual([200, 1]);
    const [second] = await lastRevisions();
    expect((await rollBack(revision!.id)).status).toBe(200);
    expect(await groupOf(client.id)).toBe(clients.kids);
    expect((await rollBack(second!.id)).status).toBe(200);
    expect(await groupOf(client.id)).toBe(1);
  });

  test('when undone, does not restore a group that was created after the revision, or its client', async () => {
    const [revision] = await lastRevisions();
    clients.kids = await clients.createGroup('Later');
    const client = await fill();
    await remove();
    expect((await rollBack(revision!.id)).status).toBe(200);
    expect((await clients.get(`/clients/${client.id}`)).status).toBe(404);
    expect((await clients.get(`/groups/${clients.kids}`)).status).toBe(404);
  });

  test('with cascade is refused if a list would then apply to every group', async () => {
    await fill();
    await addList('own', clients.kids);
    const before = await references();
    const answer = await remove();
    expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
    expect(answer.problem.detail).toContain('"own": these lists are assigned only to group');
    expect(await references()).toEqual(before);
  });

  test('without cascade is refused while a client is in the group, and always for Default', async () => {
    await clients.create({ ip_address: '192.0.2.7', group_id: clients.kids });
    const before = await references();
    expect((await remove('')).problem.detail).toContain('cascade=true');
    expect((await clients.api.send('DELETE', '/api/groups/1?cascade=true')).status).toBe(409);
    expect(await references()).toEqual(before);
  });

  test('with cascade has no limit on the number of clients and rules', async () => {
    const many = 2500;
    await clients.suite.database.query(
      `WITH d AS (INSERT INTO managed_domains (name, domain, action, group_id)
         SELECT '', n || '.example', 'deny', $1 FROM generate_series(1, $2::integer) n)
       INSERT INTO clients (ip_address, group_id) SELECT '10.0.0.0'::inet + n, $1 FROM generate_series(1, $2::integer) n`,
      [clients.kids, many],
    );
    // The rows above are part of the revision of this change.
    await clients.createGroup('Guests');
    const [revision] = await lastRevisions();
    expect((await remove()).status).toBe(204);
    const { body } = await clients.get(`/revisions/${revision!.id + 1}`);
    expect(body).toMatchObject({ left_out: 2 * many + 1 - 1000 });
    expect((await rollBack(revision!.id)).status).toBe(200);
    const { total } = ClientPage.parse((await clients.get(`/groups/${clients.kids}/clients?limit=1`)).body);
    expect([total, (await clients.rows()).managedDomains.length]).toEqual([many, many]);
  });
});
