import { describe, expect, test } from '@jest/globals';
import { type Client, ClientPage } from '../../../shared/api/policy/clients-api.ts';
import { clientSuite } from '../../../test/support/parts/client-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';
import { MAX_CLIENTS } from '../../clients/devices/client-directory.ts';
import { readClients } from '../../clients/devices/client-store.ts';

const clients = clientSuite();
const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';

const query = (text: string, values: unknown[] = []) => clients.suite.database.query(text, values);
const patch = (id: number, json: unknown): Promise<TestAnswer> =>
  clients.api.send('PATCH', `/api/clients/${id}`, { json });
const remove = (id: number): Promise<TestAnswer> => clients.api.send('DELETE', `/api/clients/${id}`);
const revisionOf = ({ headers }: TestAnswer): number => Number(headers['weir-revision'] ?? 0);
const newest = async (): Promise<number> => {
  const { body } = await clients.get('/revisions');
  return (body as { id: number }[])[0]!.id;
};
const rollBack = (id: number, head?: number): Promise<TestAnswer> =>
  clients.post(`/revisions/${id}/rollback${head === undefined ? '' : `?expected_head=${head}`}`, {});

/** Rolls back, which must create a revision. */
async function rollBackTo(id: number): Promise<number> {
  const answer = await rollBack(id);
  expect([answer.status, answer.body]).toEqual([
    200,
    expect.objectContaining({ summary: `rolled back to revision ${id}` }),
  ]);
  return revisionOf(answer);
}

/** A client that a node has discovered, also in the memory of this node; returns its id. */
async function discover(ip: string, mac: string | null, queries = 3): Promise<number> {
  const { rows } = await query(
    `INSERT INTO clients (ip_address, mac_address, addresses, hostname, first_seen, last_seen, query_count)
     VALUES ($1, $2, ARRAY[$1::inet], 'tv.example', '2026-01-01Z', '2026-01-02Z', $3) RETURNING id`,
    [ip, mac, queries],
  );
  clients.api.parts.clients.load(await readClients(clients.suite.database, MAX_CLIENTS));
  return (rows[0] as { id: number }).id;
}

/** All clients in the API, by id; those in memory must equal those in the database. */
async function shown(): Promise<Client[]> {
  const { data } = ClientPage.parse((await clients.get('/clients?limit=1000')).body);
  const { rows } = await query('SELECT id, name, host(ip_address) AS ip FROM clients ORDER BY id');
  const sorted = data.toSorted((a, b) => a.id - b.id);
  expect(sorted.map(({ id, name, ip_address: ip }) => ({ id, name, ip }))).toEqual(rows);
  return sorted;
}

describe('a rollback of clients', () => {
  test('undoes each change of a client, and can itself be undone', async () => {
    const start = await newest();
    const { id } = await clients.create({ ip_address: '192.0.2.7', name: 'tv' });
    const states: [revision: number, clients: Client[]][] = [[start, []]];
    const note = async (answer: TestAnswer): Promise<void> => {
      expect(revisionOf(answer)).toBe(await newest());
      states.push([revisionOf(answer), await shown()]);
    };
    states.push([await newest(), await shown()]);
    await note(await patch(id, { name: 'television' }));
    await note(await clients.move(id, clients.kids));
    await note(await patch(id, { mac_address: MAC, client_key: 'tv' }));
    await note(await clients.move(id, null));
    await note(await patch(id, { exclude_from_stats: true }));
    await note(await patch(id, { mac_address: null, ip_address: '192.0.2.8', name: null }));
    await note(await remove(id));
    await note(await clients.post('/clients', { ip_address: '192.0.2.7', name: 'radio', client_key: 'tv' }));
    for (const place of [0, 9, 1, 8, 2, 7, 3, 6, 4, 5, 9, 0]) {
      const [revision, expected] = states[place]!;
      await rollBackTo(revision);
      expect([place, await shown()]).toEqual([place, expected]);
    }
  });

  test('shows each client before and after, without observed data', async () => {
    const { id } = await clients.create({ mac_address: MAC, name: 'tv', group_id: clients.kids });
    const before = await newest();
    await query(`UPDATE clients SET ip_address = '192.0.2.9', last_seen = now(), query_count = 12`);
    await patch(id, { name: 'television', group_id: null });
    const { body } = await clients.get(`/revisions/${await rollBackTo(before)}`);
    expect(body).toMatchObject({
      left_out: 0,
      changes: [
        {
          ...{ table: 'clients', key: String(id) },
          before: { id, mac_address: MAC, client_key: null, name: 'television', group_id: null },
          after: { id, mac_address: MAC, client_key: null, name: 'tv', group_id: clients.kids },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toMatch(/last_seen|query_count|192\.0\.2\.9/u);
    const { rows } = await query(
      'SELECT host(ip_address) AS ip, query_count::integer AS queries FROM clients',
    );
    expect(rows).toEqual([{ ip: '192.0.2.9', queries: 12 }]);
  });

  test('removes the settings of a client that was only observed before, and restores them when undone', async () => {
    const id = await discover('192.0.2.7', null);
    const before = await newest();
    await clients.create({ ip_address: '192.0.2.7', name: 'tv', group_id: clients.kids });
    const set = await newest();
    await patch(id, { name: null, group_id: null });
    const cleared = await newest();
    await rollBackTo(set);
    expect(await shown()).toMatchObject([{ id, name: 'tv', group_id: clients.kids, query_count: 3 }]);
    await rollBackTo(before);
    expect(await shown()).toMatchObject([{ id, name: null, group_id: 1, query_count: 3 }]);
    // The client was evicted, because it was not seen for a long time.
    await query('DELETE FROM clients');
    clients.api.parts.clients.remove(id);
    await rollBackTo(set);
    expect(await shown()).toMatchObject([{ id, name: 'tv', group_id: clients.kids, query_count: 3 }]);
    await rollBackTo(cleared);
    expect(await shown()).toMatchObject([{ id, name: null, group_source: 'default' }]);
  });

  test('merges a client that was deleted and then observed again into the restored client', async () => {
    const { id } = await clients.create({ mac_address: MAC, name: 'tv', client_key: 'tv' });
    await query(`UPDATE clients SET first_seen = '2025-12-01Z', last_seen = '2025-12-02Z', query_count = 4`);
    const before = await newest();
    await remove(id);
    const again = await discover('192.0.2.9', MAC, 5);
    await query(
      `INSERT INTO grants (client_id, action, until, created_at) VALUES ($1, 'allow', 'infinity', now())`,
      [again],
    );
    await rollBackTo(before);
    expect(await shown()).toMatchObject([
      {
        ...{ id, name: 'tv', ip_address: '192.0.2.9', mac_address: MAC, client_key: 'tv', query_count: 9 },
        ...{ first_seen: '2025-12-01T00:00:00.000Z', last_seen: '2026-01-02T00:00:00.000Z' },
      },
    ]);
    expect((await query('SELECT client_id FROM grants')).rows).toEqual([{ client_id: id }]);
  });

  test('restores identifiers that clients have exchanged', async () => {
    const one = await clients.create({ mac_address: MAC, client_key: 'one', name: 'one' });
    const two = await clients.create({ ip_address: '192.0.2.2', client_key: 'two', group_id: clients.kids });
    const three = await clients.create({ ip_address: null, client_key: 'three' });
    const before = await shown();
    const then = await newest();
    await patch(one.id, { client_key: 'x', mac_address: null, ip_address: '192.0.2.3' });
    await patch(two.id, { client_key: 'one', mac_address: MAC });
    await patch(three.id, { client_key: 'two', ip_address: '192.0.2.2' });
    await patch(one.id, { client_key: 'three' });
    const exchanged = await shown();
    const last = await newest();
    await rollBackTo(then);
    expect(await shown()).toEqual(before);
    await rollBackTo(last);
    expect(await shown()).toEqual(exchanged);
  });

  test('keeps grants of remaining clients, and keeps a client without settings while it has a grant', async () => {
    const { id } = await clients.create({ ip_address: '192.0.2.7', client_key: 'tv' });
    const before = await newest();
    const added = await clients.create({ mac_address: OTHER_MAC, name: 'radio' });
    await patch(id, { ip_address: null });
    const grant = `INSERT INTO grants (client_id, action, until, created_at) VALUES ($1, 'allow', 'infinity', now())`;
    for (const client of [id, added.id]) await query(grant, [client]);
    await rollBackTo(before);
    expect((await query('SELECT client_id FROM grants ORDER BY id')).rows).toEqual([
      { client_id: id },
      { client_id: added.id },
    ]);
    expect(await shown()).toMatchObject([
      { id, ip_address: '192.0.2.7', client_key: 'tv' },
      { id: added.id, mac_address: OTHER_MAC, name: null },
    ]);
  });

  test('is done only once if two rollbacks from the same revision run at the same time', async () => {
    const { id } = await clients.create({ ip_address: '192.0.2.7', name: 'tv' });
    const first = await newest();
    await patch(id, { name: 'radio' });
    const second = await newest();
    await patch(id, { name: 'phone' });
    const head = await newest();
    const answers = await Promise.all([rollBack(first, head), rollBack(second, head)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.problem.detail).toContain(`${head + 1} (admin: rolled back to revision`);
    expect(await newest()).toBe(head + 1);
    expect(await shown()).toMatchObject([{ name: answers[0].status === 200 ? 'tv' : 'radio' }]);
    // Without an expected head, both rollbacks are done, one after the other.
    const both = await Promise.all([rollBack(first), rollBack(head)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    await shown();
  });
});

describe('a client that was only observed', () => {
  test('creates no revision when it is observed, evicted or deleted, but changes by users are audited', async () => {
    const before = await newest();
    const id = await discover('192.0.2.7', null);
    await query(`UPDATE clients SET hostname = 'x.example', last_seen = now(), query_count = 99`);
    const moved = await patch(id, { ip_address: '192.0.2.8' });
    const removed = await remove(id);
    expect([moved.status, removed.status, await newest()]).toEqual([200, 204, before]);
    expect([revisionOf(moved), revisionOf(removed)]).toEqual([0, 0]);
    const { rows } = await query(`SELECT action, subject, revision FROM audit_log ORDER BY id DESC LIMIT 2`);
    expect(rows).toEqual([
      { action: 'deleted', subject: 'client 192.0.2.8', revision: null },
      { action: 'changed', subject: 'client 192.0.2.8', revision: null },
    ]);
    const { rows: noted } = await query(
      `SELECT FROM policy_changes WHERE table_name = 'clients' AND seq > (SELECT max(last_change) FROM revisions)`,
    );
    expect(noted).toEqual([]);
  });
});

describe('the address of a client that is identified by its MAC', () => {
  test('is the last observed one, belongs to no revision, and is audited when a user changes it', async () => {
    const { id } = await clients.create({ mac_address: MAC, name: 'tv' });
    const before = await newest();
    const changed = await patch(id, { ip_address: '192.0.2.8' });
    expect([changed.status, revisionOf(changed), await newest()]).toEqual([200, 0, before]);
    const { rows } = await query(`SELECT subject, after FROM audit_log ORDER BY id DESC LIMIT 1`);
    expect(rows).toMatchObject([{ subject: 'client tv', after: { ip_address: '192.0.2.8' } }]);
    const again = await patch(id, { ip_address: '192.0.2.8' });
    expect(again.status).toBe(200);
    expect((await query(`SELECT FROM audit_log WHERE subject = 'client tv'`)).rows).toHaveLength(2);
  });
});
