/** Clients that are merged into one device: over HTTP, in the database, in memory and in policy. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Client, ClientPage } from '../../../../shared/api/policy/clients-api.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import { Exclusion } from '../../../../shared/query-log.ts';
import { clientSuite, pathsOf } from '../../../../test/support/parts/client-suite.ts';
import { logRow } from '../../../../test/support/parts/log-row.ts';
import type { TestAnswer } from '../../../../test/support/parts/running-api.ts';
import { storeRows } from '../../../../test/support/parts/stored-log.ts';
import { MAX_CLIENTS } from '../client-directory.ts';
import { readClients } from '../client-store.ts';

const MAC = '02:00:5e:10:00:01';
const OTHER_MAC = '02:00:5e:10:00:02';

const clients = clientSuite();
const { get, post, create, rows } = clients;
let phone: Client;
let other: Client;

const query = (text: string, values: unknown[] = []) => clients.suite.database.query(text, values);
const merge = (id: number, ...ids: number[]): Promise<TestAnswer> =>
  post(`/clients/${id}/merge`, { client_ids: ids });
const split = (id: number): Promise<TestAnswer> => post(`/clients/${id}/split`, {});
const send = (method: string, path: string, json: unknown, ifMatch?: string): Promise<TestAnswer> =>
  clients.api.send(method, `/api${path}`, {
    json,
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
  });
const newest = async (): Promise<number> => ((await get('/revisions')).body as { id: number }[])[0]!.id;
async function rollBackTo(revision: number): Promise<void> {
  expect((await post(`/revisions/${revision}/rollback`, {})).status).toBe(200);
}

/** All clients of the list, by id; the parts in memory must equal those in the database. */
async function list(): Promise<Client[]> {
  const { data } = ClientPage.parse((await get('/clients?limit=1000')).body);
  const stored = await query(
    `SELECT id, CASE WHEN device_id <> id THEN device_id END AS merged_into FROM clients ORDER BY id`,
  );
  const shown = data.flatMap(({ id, merged }) => [
    { id, merged_into: null },
    ...merged.map((part) => ({ id: part.id, merged_into: id })),
  ]);
  expect(shown.sort((a, b) => a.id - b.id)).toEqual(stored.rows);
  return data.toSorted((a, b) => a.id - b.id);
}

beforeEach(async () => {
  phone = await create({ mac_address: MAC, name: 'Phone', group_id: clients.kids });
  other = await create({
    mac_address: OTHER_MAC,
    name: 'Unknown',
    exclude_from_stats: true,
    client_key: 'away',
  });
});

describe('clients that are merged', () => {
  test('become one client with the name, group and exclusions of the first client, in one revision', async () => {
    const before = await newest();
    const answer = await merge(phone.id, other.id);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ...phone,
        merged: [
          {
            ...{
              id: other.id,
              ip_address: null,
              mac_address: OTHER_MAC,
              vendor: null,
              private_address: true,
            },
            ...{ client_key: 'away', hostname: null, last_seen: null },
          },
        ],
      },
    ]);
    expect([await newest(), answer.headers['weir-revision']]).toEqual([before + 1, String(before + 1)]);
    expect(await list()).toEqual([answer.body]);
    expect((await get(`/clients/${other.id}`)).body).toMatchObject({
      ...{
        name: 'Phone',
        group_id: clients.kids,
        exclude_from_stats: false,
        merged_into: phone.id,
        merged: [],
      },
    });
    expect((await get('/clients?search=00:02')).body).toMatchObject({ total: 1, data: [{ id: phone.id }] });
    expect((await get(`/groups/${clients.kids}`)).body).toMatchObject({ client_count: 1 });
    expect(await rows()).toMatchObject({
      macClients: [
        { mac: MAC, groupId: clients.kids },
        { mac: OTHER_MAC, groupId: clients.kids },
      ],
      keyedClients: [
        { clientId: other.id, key: 'away', groupId: clients.kids, name: 'Phone', exclusion: Exclusion.NONE },
      ],
      excludedClients: [],
    });
  });

  test('use the settings of the first client', async () => {
    await merge(phone.id, other.id);
    await send('PATCH', `/clients/${phone.id}`, { exclude_from_log: true, group_id: null });
    expect(await rows()).toMatchObject({
      macClients: [],
      excludedClients: [
        { mac: MAC, exclusion: Exclusion.LOG },
        { mac: OTHER_MAC, exclusion: Exclusion.LOG },
      ],
      keyedClients: [{ key: 'away', exclusion: Exclusion.LOG }],
    });
  });

  test('share temporary rules that were created before or after the merge', async () => {
    const grant = (id: number) =>
      query(
        `INSERT INTO grants (domain, subdomains, client_id, action, created_at) VALUES ('a.example', true, $1, 'allow', now())`,
        [id],
      );
    await grant(other.id);
    await merge(phone.id, other.id);
    const places = async () => (await rows()).grants.map(({ clientId, mac }) => [clientId, mac]);
    const everywhere = [
      [phone.id, MAC],
      [other.id, OTHER_MAC],
    ];
    expect(await places()).toEqual(everywhere);
    await query('DELETE FROM grants');
    await grant(phone.id);
    expect(await places()).toEqual(everywhere);
    await split(other.id);
    expect(await places()).toEqual([[phone.id, MAC]]);
  });

  test('stay linked to the users of the role family that any merged client was linked to, without duplicates', async () => {
    await query(
      `WITH made AS (INSERT INTO users (username, role) VALUES ('ida', 'family'), ('jo', 'family') RETURNING id, username)
        INSERT INTO user_clients SELECT id, unnest(CASE username WHEN 'ida' THEN $1 ELSE $2 END::integer[]) FROM made`,
      [[other.id], [phone.id, other.id]],
    );
    await merge(phone.id, other.id);
    const linked = `SELECT username, client_id FROM user_clients JOIN users ON id = user_id ORDER BY username`;
    expect((await query(linked)).rows).toEqual([
      { username: 'ida', client_id: phone.id },
      { username: 'jo', client_id: phone.id },
    ]);
  });

  test('are listed and counted together in the log, and separately after a split', async () => {
    clients.api.parts.clients.locate('192.0.2.7', MAC);
    clients.api.parts.clients.locate('192.0.2.8', OTHER_MAC);
    const atMs = clients.api.clock.nowMs() - 30_000;
    await storeRows(
      clients.suite.database,
      ['192.0.2.7', '192.0.2.8', '192.0.2.8'].map((address) =>
        logRow({ timestampMs: atMs, client: addressFromText(address)! }),
      ),
    );
    const logged = async (id: number): Promise<unknown[]> =>
      ((await get(`/queries?client_id=${id}`)).body as { data: Record<string, unknown>[] }).data.map(
        (row) => `${String(row['client'])} ${String(row['client_hostname'])}`,
      );
    const counts = async (): Promise<unknown[]> =>
      ((await get('/clients/stats')).body as { id: number; queries_total: number }[]).map((row) => [
        row.id,
        row.queries_total,
      ]);
    await merge(phone.id, other.id);
    expect((await logged(phone.id)).sort()).toEqual([
      '192.0.2.7 Phone',
      '192.0.2.8 Phone',
      '192.0.2.8 Phone',
    ]);
    expect(await counts()).toEqual([[phone.id, 3]]);
    await split(other.id);
    expect(await logged(phone.id)).toEqual(['192.0.2.7 Phone']);
    expect(await counts()).toEqual([
      [other.id, 2],
      [phone.id, 1],
    ]);
  });

  test('include clients that an earlier merge had combined with one of the given clients', async () => {
    const third = await create({ ip_address: '192.0.2.9' });
    await merge(other.id, third.id);
    await merge(phone.id, other.id);
    const [only] = await list();
    expect(only!.merged.map(({ id }) => id)).toEqual([other.id, third.id]);
    expect((await rows()).clients).toEqual([{ address: '192.0.2.9', groupId: clients.kids }]);
  });

  test('are deleted together, and restored together by a rollback', async () => {
    await merge(phone.id, other.id);
    const merged = await newest();
    const before = await list();
    await clients.api.send('DELETE', `/api/clients/${phone.id}`);
    expect(await list()).toEqual([]);
    await rollBackTo(merged);
    expect(await list()).toEqual(before);
  });

  test('are kept even without settings, however long ago they were seen', async () => {
    const seen = async (mac: string): Promise<number> => {
      const text = `INSERT INTO clients (ip_address, mac_address, last_seen) VALUES ('192.0.2.7', $1, '2020-01-01Z') RETURNING id`;
      return ((await query(text, [mac])).rows[0] as { id: number }).id;
    };
    const ids = [await seen('02:00:5e:10:00:03'), await seen('02:00:5e:10:00:04')] as const;
    clients.api.parts.clients.load(await readClients(clients.suite.database, MAX_CLIENTS));
    await merge(...ids);
    const store = await import('../client-store.ts');
    expect(await store.deleteUnseen(clients.suite.database, clients.api.clock.nowMs())).toEqual([]);
    expect(await list()).toHaveLength(3);
  });
});

describe('a merge of clients', () => {
  test.each<[string, () => Promise<TestAnswer>, number, string[]]>([
    ['with itself', () => merge(phone.id, other.id, phone.id), 400, ['client_ids.1']],
    ['with an unknown client', () => merge(phone.id, other.id, 4711), 400, ['client_ids.1']],
    ['with no other client', () => merge(phone.id), 400, ['client_ids']],
    ['into an unknown client', () => merge(4711, other.id), 404, []],
  ])('is refused %s, and changes nothing', async (_, ask, status, paths) => {
    const before = [await list(), await newest()];
    const answer = await ask();
    expect([answer.status, answer.status === 400 ? pathsOf(answer) : []]).toEqual([status, paths]);
    expect([await list(), await newest()]).toEqual(before);
  });

  test('is refused for a client that was already merged into another; such a client cannot be changed or created', async () => {
    const third = await create({ ip_address: '192.0.2.9', name: 'Third' });
    await merge(phone.id, other.id);
    const before = await list();
    const refused = await Promise.all([
      merge(third.id, other.id),
      merge(other.id, third.id),
      split(phone.id),
      split(third.id),
      send('PATCH', `/clients/${other.id}`, { name: 'x' }),
      clients.move(other.id, null),
      post('/clients', { mac_address: OTHER_MAC, name: 'x' }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 409));
    expect(await list()).toEqual(before);
  });

  test('is refused for more than 17 clients', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 16; i++) ids.push((await create({ ip_address: `192.0.2.${100 + i}` })).id);
    expect((await merge(phone.id, ...ids)).status).toBe(200);
    expect((await merge(phone.id, other.id)).status).toBe(409);
  });

  test('has no effect and creates no revision if it is repeated', async () => {
    await merge(phone.id, other.id);
    const before = await newest();
    expect((await merge(phone.id, other.id)).status).toBe(200);
    expect(await newest()).toBe(before);
  });

  test('that runs concurrently with another merge never merges into a client that is itself merged', async () => {
    const third = await create({ ip_address: '192.0.2.9', name: 'Third' });
    const answers = await Promise.all([
      merge(phone.id, other.id),
      merge(other.id, phone.id),
      merge(other.id, third.id),
    ]);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual(
      [],
    );
    await list();
    const nested = await query(
      'SELECT FROM clients part JOIN clients main ON main.id = part.device_id WHERE main.device_id IS DISTINCT FROM main.id',
    );
    expect(nested.rows).toEqual([]);
  });

  test('is refused with an outdated ETag, and changes the ETag of the merged client', async () => {
    const tagOf = async (id: number): Promise<string> =>
      String((await get(`/clients/${id}`)).headers['etag']);
    const before = await tagOf(phone.id);
    const body = { client_ids: [other.id] };
    expect((await send('POST', `/clients/${phone.id}/merge`, body, '"other"')).status).toBe(412);
    expect((await send('POST', `/clients/${phone.id}/merge`, body, before)).status).toBe(200);
    expect((await send('PATCH', `/clients/${phone.id}`, { name: 'x' }, before)).status).toBe(412);
    const merged = await tagOf(phone.id);
    const part = await tagOf(other.id);
    expect((await send('POST', `/clients/${other.id}/split`, {}, part)).status).toBe(200);
    expect((await send('PATCH', `/clients/${phone.id}`, { name: 'x' }, merged)).status).toBe(412);
    expect((await send('PATCH', `/clients/${phone.id}`, { name: 'x' }, before)).status).toBe(200);
  });

  test('is undone and redone by rollbacks, and so is a split', async () => {
    const third = await create({ ip_address: '192.0.2.9', name: 'Third' });
    const states: [number, Client[]][] = [[await newest(), await list()]];
    const steps = [
      () => merge(phone.id, other.id),
      () => merge(third.id, phone.id),
      () => split(other.id),
      () => clients.api.send('DELETE', `/api/clients/${third.id}`),
      () => clients.api.send('DELETE', `/api/clients/${other.id}`),
    ];
    for (const step of steps) {
      await step();
      states.push([await newest(), await list()]);
    }
    for (const place of [0, 5, 1, 4, 2, 3, 1, 0]) {
      await rollBackTo(states[place]![0]);
      expect([place, await list()]).toEqual([place, states[place]![1]]);
    }
  });
});

describe('a client that is split off', () => {
  test('keeps its group and exclusions, but not the name', async () => {
    await send('PATCH', `/clients/${phone.id}`, { exclude_from_log: true });
    await merge(phone.id, other.id);
    const { body } = await split(other.id);
    expect(body).toEqual({
      ...other,
      ...{
        name: null,
        group_id: clients.kids,
        group_source: 'mac',
        exclude_from_log: true,
        exclude_from_stats: false,
      },
    });
    expect(await list()).toMatchObject([{ id: phone.id, merged: [] }, { id: other.id }]);
    expect((await query('SELECT FROM clients WHERE device_id IS NOT NULL')).rows).toEqual([]);
  });
});
