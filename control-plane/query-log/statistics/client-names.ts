/** Names of the clients in a top list. */
import type { TopClients } from '../../../shared/api/stats-api.ts';
import type { ClientCount } from './stats-store.ts';

/** Names of clients by address. */
export interface ClientNames {
  /** Name of the client with this id, if given, or else at this address. Null if the client has no name. */
  nameAt(address: string, clientId: number | null): string | null;
}

/** Converts a top list to the form of the API, with the current name of each client. */
export function withNames(counts: readonly ClientCount[], clients: ClientNames): TopClients {
  return counts.map(({ ip, clientId, count, blocked }) => ({
    ip_address: ip,
    ip,
    hostname: clients.nameAt(ip, clientId),
    client_id: clientId,
    count,
    blocked,
  }));
}
