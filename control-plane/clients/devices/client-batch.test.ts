/** Changes of many clients in one transaction; `test/api/walk/bulk.test.ts` tests them over HTTP. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { openSuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { ClientBulkBody } from '../../../shared/api/policy/bulk-api.ts';
import { ApiError } from '../../api/api-error.ts';
import { changeClients } from './client-batch.ts';
import type { ChangedBatch } from './client-batch.ts';

const MAC = '02:00:5e:30:00:01';

let suite: SuiteDatabase;

beforeAll(async () => {
  suite = await openSuiteDatabase();
});
afterEach(() => suite.reset());
afterAll(() => suite.close());

const change = (batch: unknown): Promise<ChangedBatch> =>
  suite.database.transaction((tx) => changeClients(tx, ClientBulkBody.parse(batch)));

/** The status and the paths of a refusal. */
async function refusalOf(batch: unknown): Promise<unknown[]> {
  const error: unknown = await change(batch).catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw new Error('expected a refusal');
  return [error.status, (error.fields ?? []).map(({ path }) => path).sort()];
}

async function seen(): Promise<number> {
  const { rows } = await suite.database.query<{ id: number }>(
    `INSERT INTO clients (ip_address, mac_address, hostname, last_seen)
     VALUES ('192.0.2.9', $1, 'tablet', now()) RETURNING id`,
    [MAC],
  );
  return rows[0]!.id;
}

test('a batch updates a client that was seen but had no settings, and keeps its address', async () => {
  const id = await seen();
  const { created, changes } = await change({
    create: [
      { ip_address: '192.0.2.10', name: 'phone' },
      { mac_address: MAC, name: 'tablet', group_id: 1 },
    ],
  });
  expect(created.map(({ name }) => name)).toEqual(['phone', 'tablet']);
  expect(created[1]).toMatchObject({ id, ip: '192.0.2.9', hostname: 'tablet', groupId: 1 });
  expect(changes.map(({ before }) => before?.id ?? null)).toEqual([null, id]);
});

test('a batch is refused if another client has a MAC, address or key of an entry, with the index of the entry', async () => {
  await seen();
  await change({
    create: [
      { mac_address: MAC, name: 'tablet' },
      { client_key: 'phone' },
      { ip_address: '192.0.2.11', name: 'tv' },
    ],
  });
  const create = [
    { mac_address: MAC, name: 'other' },
    { ip_address: '192.0.2.12', client_key: 'phone' },
    { ip_address: '192.0.2.11', name: 'other' },
    { ip_address: '192.0.2.13', client_key: 'new' },
    { ip_address: '192.0.2.14', client_key: 'new' },
    { ip_address: '192.0.2.13', name: 'twice' },
  ];
  expect(await refusalOf({ create })).toEqual([
    409,
    [
      ...['create.0.mac_address', 'create.1.client_key', 'create.2.ip_address'],
      ...['create.4.client_key', 'create.5.ip_address'],
    ],
  ]);
  expect((await suite.database.query('SELECT FROM clients')).rowCount).toBe(3);
});

test('one batch may delete a client and create it again', async () => {
  const { created } = await change({ create: [{ ip_address: '192.0.2.11', client_key: 'tv', name: 'tv' }] });
  const again = await change({
    create: [{ ip_address: '192.0.2.11', client_key: 'tv', name: 'new tv' }],
    delete: [created[0]!.id],
  });
  expect(again.created[0]).toMatchObject({ name: 'new tv', key: 'tv' });
  expect(again.changes).toMatchObject([{ after: null }, { before: null }]);
  expect(
    await refusalOf({ create: [{ client_key: 'b', group_id: 4711 }], delete: [created[0]!.id] }),
  ).toEqual([400, ['create.0.group_id', 'delete.0']]);
});
