/** Clients as the API of a Weir shows them, and a group that one of them is moved to. */
import type { Client, ClientPage } from '../../../shared/api/policy/clients-api.ts';
import { until } from '../parts/until.ts';
import type { ApiClient } from './api-client.ts';

/** A name that the strict group is refused. */
export const STRICT_NAME = 'game.example.com';

/** Creates a group for which STRICT_NAME is blocked; its id. */
export async function createStrictGroup(api: ApiClient): Promise<number> {
  const { id } = await api.createGroup('Kids');
  await api.expect(201, 'POST', '/managed-domains', { domain: STRICT_NAME, action: 'deny', group_id: id });
  return id;
}

/** The stored clients. */
export async function clientsOf(api: ApiClient): Promise<Client[]> {
  return (await api.expect<ClientPage>(200, 'GET', '/clients')).data;
}

/** The client that is wanted, once it is stored. */
export async function clientOnce(api: ApiClient, isWanted: (client: Client) => boolean): Promise<Client> {
  const isThere = (clients: readonly Client[]): boolean => clients.some(isWanted);
  const clients = await until('a client to be stored', () => clientsOf(api), isThere, { pauseMs: 100 });
  return clients.find(isWanted)!;
}
