/**
 * The part of the policy statement that reads clients and their networks. They may be tens of thousands, so
 * they are read only when they have changed, and as text, which takes a third of the time of JSON.
 */
import type { PolicyRows } from './compiled-rules.ts';

type Known<Rows> = { readonly version: string; readonly rows: Rows } | null;

/** What the statement brings of them; null = as known. */
export interface ClientColumns {
  readonly clients_version: string;
  readonly subnets_version: string;
  /** `address group` and so on, with commas between. */
  readonly clients: string | null;
  readonly mac_clients: string | null;
  readonly subnets: string | null;
}

const versionOf = (table: string): string => `(SELECT version FROM table_versions WHERE name = '${table}')`;
const pairs = (value: string, table: string): string =>
  `coalesce(string_agg(${value} || ' ' || group_id, ','), '') FROM ${table}`;
const unless = (table: string, known: string, rows: string): string =>
  `CASE WHEN ${versionOf(table)} = ${known}::uuid THEN NULL ELSE (SELECT ${rows}) END`;

/** Columns of the statement; `$1` and `$2` are what `ClientRowsMemory.versions` says. */
export const CLIENT_COLUMNS = `
  ${versionOf('clients')} AS clients_version, ${versionOf('client_subnets')} AS subnets_version,
  ${unless('clients', '$1', `${pairs('host(ip_address)', 'clients')} WHERE group_id IS NOT NULL AND mac_address IS NULL`)} AS clients,
  ${unless('clients', '$1', `${pairs('mac_address::text', 'clients')} WHERE group_id IS NOT NULL AND mac_address IS NOT NULL`)} AS mac_clients,
  ${unless('client_subnets', '$2', pairs('cidr::text', 'client_subnets'))} AS subnets`;

/** The rows that were read last. */
export class ClientRowsMemory {
  private clients: Known<Pick<PolicyRows, 'clients' | 'macClients'>> = null;
  private subnets: Known<PolicyRows['subnets']> = null;

  /** Versions of what is known. */
  versions(): (string | null)[] {
    return [this.clients?.version ?? null, this.subnets?.version ?? null];
  }

  /** The rows as they are now; the same arrays where nothing has changed. */
  take(columns: ClientColumns): Pick<PolicyRows, 'clients' | 'macClients' | 'subnets'> {
    if (columns.clients !== null && columns.mac_clients !== null) {
      const clients = readPairs(columns.clients, (address, groupId) => ({ address, groupId }));
      const macClients = readPairs(columns.mac_clients, (mac, groupId) => ({ mac, groupId }));
      this.clients = { version: columns.clients_version, rows: { clients, macClients } };
    }
    if (columns.subnets !== null) {
      const rows = readPairs(columns.subnets, (cidr, groupId) => ({ cidr, groupId }));
      this.subnets = { version: columns.subnets_version, rows };
    }
    return { ...this.clients!.rows, subnets: this.subnets!.rows };
  }
}

function readPairs<Row>(text: string, make: (value: string, groupId: number) => Row): Row[] {
  if (text === '') return [];
  return text.split(',').map((pair) => {
    const space = pair.indexOf(' ');
    return make(pair.slice(0, space), Number(pair.slice(space + 1)));
  });
}
