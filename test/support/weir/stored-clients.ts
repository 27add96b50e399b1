/** Clients as in the API of a Weir server, and a group to which a test moves one of them. */
import type { Client, ClientPage } from '../../../shared/api/policy/clients-api.ts';
import { until } from '../parts/until.ts';
import type { ApiClient } from './api-client.ts';

/** A name that is blocked for the strict group. */
export const STRICT_NAME = 'game.example.com';

/** Creates a group for which STRICT_NAME is blocked; returns its id. */
export async function createStrictGroup(api: ApiClient): Promise<number> {
  const { id } = await api.createGroup('Kids');
  await api.expect(201, 'POST', '/managed-domains', { domain: STRICT_NAME, action: 'deny', group_id: id });
  return id;
}

/** The stored clients. */
export async function clientsOf(api: ApiClient): Promise<Client[]> {
  return (await api.expect<ClientPage>(200, 'GET', '/clients')).data;
}

/** The matching client, once it is stored. */
export async function clientOnce(api: ApiClient, isWanted: (client: Client) => boolean): Promise<Client> {
  const exists = (clients: readonly Client[]): boolean => clients.some(isWanted);
  const clients = await until('a client to be stored', () => clientsOf(api), exists, { pauseMs: 100 });
  return clients.find(isWanted)!;
}
