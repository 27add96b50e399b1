import { beforeEach, describe, expect, test } from '@jest/globals';
import { ClientPage } from '../../../../shared/api/policy/clients-api.ts';
import { clientSuite, pathsOf } from '../../../../test/support/parts/client-suite.ts';
import { readSetClients } from '../client-store.ts';

const HOUR_MS = 3_600_000;
const clients = clientSuite();
const { get, post } = clients;
let serial = 0;

const query = (text: string, values: unknown[] = []) => clients.suite.database.query(text, values);

/** Creates a client that was first seen some hours ago; returns its id. */
async function seen(hoursAgo: number): Promise<number> {
  const address = `192.0.2.${++serial}`;
  clients.api.parts.clients.see({
    ...{ address, queries: 1 },
    lastSeenMs: clients.api.clock.nowMs() - hoursAgo * HOUR_MS,
  });
  const { rows } = await query(
    'INSERT INTO clients (ip_address, first_seen, last_seen) VALUES ($1, $2, $2) RETURNING id',
    [address, new Date(clients.api.clock.nowMs() - hoursAgo * HOUR_MS)],
  );
  const { id } = rows[0] as { id: number };
  const [stored] = (await readSetClients(clients.suite.database, [id])).clients;
  clients.api.parts.clients.put(stored!);
  return id;
}

async function newIds(): Promise<number[]> {
  const { data, total } = ClientPage.parse((await get('/clients?is_new=true')).body);
  expect([total, data.map((client) => client.is_new)]).toEqual([data.length, data.map(() => true)]);
  return data.map(({ id }) => id).sort((a, b) => a - b);
}

describe('a new client', () => {
  beforeEach(() => {
    serial = 0;
  });

  test('is a client that was first seen in the last 24 hours', async () => {
    const [recent, old] = [await seen(23), await seen(25)];
    expect(await newIds()).toEqual([recent]);
    const { body } = await get('/clients?is_new=false');
    expect(body).toMatchObject({ total: 1, data: [{ id: old, is_new: false }] });
    expect((await get('/clients?is_new=maybe')).status).toBe(400);
  });

  test('is no longer new after it got a name or was merged, but is still new if it only got a group', async () => {
    const [named, main, part, grouped] = [await seen(1), await seen(1), await seen(1), await seen(1)];
    await clients.api.send('PATCH', `/api/clients/${named}`, { json: { name: 'TV' } });
    await post(`/clients/${main}/merge`, { client_ids: [part] });
    await clients.move(grouped, clients.kids);
    expect(await newIds()).toEqual([grouped]);
  });

  test('is not a client that was created but never seen', async () => {
    await clients.create({ ip_address: '192.0.2.99' });
    expect(await newIds()).toEqual([]);
  });

  test('is acknowledged together with other new clients, on all nodes, in the audit log but without a revision', async () => {
    const ids = [await seen(1), await seen(2), await seen(3)];
    const versionOf = async (): Promise<unknown> =>
      (await query(`SELECT version FROM table_versions WHERE name = 'client_settings'`)).rows[0];
    const before = await versionOf();
    const answer = await post('/clients/acknowledge', { client_ids: [ids[0], ids[2], ids[0]] });
    expect([answer.status, answer.body]).toEqual([200, { acknowledged: 2 }]);
    expect(answer.headers['weir-revision']).toBeUndefined();
    expect(await newIds()).toEqual([ids[1]]);
    expect(await versionOf()).not.toEqual(before);
    const followed = [...(await readSetClients(clients.suite.database, [])).clients];
    followed.sort((a, b) => a.id - b.id);
    expect(followed.map(({ id, isAcknowledged }) => [id, isAcknowledged])).toEqual([
      [ids[0], true],
      [ids[2], true],
    ]);
    const audit = await query(
      `SELECT action, subject, revision FROM audit_log WHERE action = 'acknowledged'`,
    );
    expect(audit.rows).toEqual([{ action: 'acknowledged', subject: '2 clients', revision: null }]);
    expect((await post('/clients/acknowledge', { client_ids: ids })).body).toEqual({ acknowledged: 1 });
    expect((await post('/clients/acknowledge', { client_ids: ids })).body).toEqual({ acknowledged: 0 });
  });

  test('is not acknowledged if the same request contains an unknown client', async () => {
    const id = await seen(1);
    const answer = await post('/clients/acknowledge', { client_ids: [id, 4711] });
    expect([answer.status, pathsOf(answer)]).toEqual([400, ['client_ids.1']]);
    expect(await newIds()).toEqual([id]);
  });

  test('can still be named after it was acknowledged', async () => {
    const id = await seen(1);
    await post('/clients/acknowledge', { client_ids: [id] });
    const { rows } = await query('SELECT host(ip_address) AS ip FROM clients WHERE id = $1', [id]);
    const named = await clients.create({ ip_address: (rows[0] as { ip: string }).ip, name: 'TV' });
    expect(named).toMatchObject({ id, name: 'TV', is_new: false });
  });
});
