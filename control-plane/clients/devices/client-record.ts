/** A client in memory: its stored state, and newer sightings. */

/** Most addresses kept per client, the last ones. */
export const MAX_ADDRESSES = 16;

/** One row of `clients`. */
export interface StoredClient {
  readonly id: number;
  /** Where it was seen last. */
  readonly ip: string | null;
  readonly mac: string | null;
  /** In lower case. */
  readonly key: string | null;
  /** Where it was seen, the last one first. */
  readonly addresses: readonly string[];
  /** `server.site` of the node that saw it there. */
  readonly site: string;
  readonly hostname: string | null;
  /** Given by people. */
  readonly name: string | null;
  /** Null = none was assigned. */
  readonly groupId: number | null;
  /** Unix milliseconds; null = never. */
  readonly firstSeenMs: number | null;
  readonly lastSeenMs: number | null;
  readonly queryCount: number;
  /** Its queries get no rows in the query log, or are not counted. */
  readonly excludeFromLog: boolean;
  readonly excludeFromStats: boolean;
}

/** Clients after a change by users. */
export interface ChangedClients {
  readonly clients: readonly StoredClient[];
  /** Ids of clients that are gone. */
  readonly goneClients: readonly number[];
}

/** A client in memory. */
export interface ClientRecord {
  /** Null until the database has it. */
  id: number | null;
  ip: string | null;
  mac: string | null;
  key: string | null;
  addresses: string[];
  site: string;
  hostname: string | null;
  name: string | null;
  groupId: number | null;
  excludeFromLog: boolean;
  excludeFromStats: boolean;
  firstSeenMs: number | null;
  lastSeenMs: number | null;
  /** Queries that the database knows of. */
  storedQueries: number;
  /** Queries since. */
  newQueries: number;
  /** Something of it is not in the database. */
  isDirty: boolean;
}

/** A record of a row. */
export function recordOf(stored: StoredClient): ClientRecord {
  const { queryCount, addresses, ...others } = stored;
  return { ...others, addresses: [...addresses], storedQueries: queryCount, newQueries: 0, isDirty: false };
}

/** Whether a person gave it a name, group, key or exclusion, so that it is never evicted or merged. */
export function isManual(
  record: Pick<ClientRecord, 'name' | 'groupId' | 'key' | 'excludeFromLog' | 'excludeFromStats'>,
): boolean {
  const { name, groupId, key, excludeFromLog, excludeFromStats } = record;
  return name !== null || groupId !== null || key !== null || excludeFromLog || excludeFromStats;
}

/** Records that the client was at `address`. */
export function noteAddress(record: ClientRecord, address: string): void {
  if (record.addresses[0] === address) return;
  record.addresses = [address, ...record.addresses.filter((other) => other !== address)].slice(
    0,
    MAX_ADDRESSES,
  );
}
