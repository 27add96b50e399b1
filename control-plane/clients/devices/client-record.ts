/** A client in memory: its stored state, and newer sightings. */

/** Maximum number of addresses per client; the most recent ones are kept. */
export const MAX_ADDRESSES = 16;

/** One row of `clients`. */
export interface StoredClient {
  readonly id: number;
  /** Address at which the client was last seen. */
  readonly ip: string | null;
  readonly mac: string | null;
  /** Key in lower case. */
  readonly key: string | null;
  /** Addresses at which the client was seen, the most recent first. */
  readonly addresses: readonly string[];
  /** `server.site` of the node that saw the client at these addresses. */
  readonly site: string;
  readonly hostname: string | null;
  /** Name given by a user. */
  readonly name: string | null;
  /** Null = no group was assigned. */
  readonly groupId: number | null;
  /** Id of the client of which this one is a part, or its own id if it has parts; null = neither. */
  readonly deviceId: number | null;
  /** Whether an administrator has acknowledged the client. */
  readonly isAcknowledged: boolean;
  /** In Unix milliseconds; null = the client was never seen. */
  readonly firstSeenMs: number | null;
  readonly lastSeenMs: number | null;
  readonly queryCount: number;
  /** Whether the client's queries are excluded from the query log, and from statistics. */
  readonly excludeFromLog: boolean;
  readonly excludeFromStats: boolean;
}

/** Clients after a change by users. */
export interface ChangedClients {
  readonly clients: readonly StoredClient[];
  /** Ids of deleted clients. */
  readonly goneClients: readonly number[];
}

/** A client in memory. */
export interface ClientRecord {
  /** Null until the client is stored. */
  id: number | null;
  ip: string | null;
  mac: string | null;
  key: string | null;
  addresses: string[];
  site: string;
  hostname: string | null;
  name: string | null;
  groupId: number | null;
  deviceId: number | null;
  isAcknowledged: boolean;
  excludeFromLog: boolean;
  excludeFromStats: boolean;
  firstSeenMs: number | null;
  lastSeenMs: number | null;
  /** Number of queries stored in the database. */
  storedQueries: number;
  /** Number of queries that are not stored yet. */
  newQueries: number;
  /** Whether the record has changes that are not stored yet. */
  isDirty: boolean;
}

/** Queries from an address, or from a client that identified itself by its key. */
export interface Sighting {
  /** '' for a client that identified itself by its key. */
  readonly address: string;
  /** Id of the client; absent for an address. */
  readonly clientId?: number;
  /** Number of queries since the previous sighting. */
  readonly queries: number;
  /** Unix milliseconds. */
  readonly lastSeenMs: number;
}

/** An address, and the time of its last query in Unix milliseconds. */
export interface SeenAddress {
  readonly address: string;
  readonly lastSeenMs: number;
}

/** Creates the record of a stored client. */
export function recordOf(stored: StoredClient): ClientRecord {
  const { queryCount, addresses, ...others } = stored;
  return { ...others, addresses: [...addresses], storedQueries: queryCount, newQueries: 0, isDirty: false };
}

/** Creates the record of a client that is seen for the first time. */
export function newRecord(ip: string, mac: string | null, site: string): ClientRecord {
  return {
    ...{ id: null, ip, mac, key: null, addresses: [], site },
    ...{ hostname: null, name: null, groupId: null, deviceId: null, isAcknowledged: false },
    ...{ excludeFromLog: false, excludeFromStats: false, firstSeenMs: null, lastSeenMs: null },
    ...{ storedQueries: 0, newQueries: 0, isDirty: true },
  };
}

type Settings = 'name' | 'groupId' | 'key' | 'deviceId' | 'excludeFromLog' | 'excludeFromStats';

/**
 * Whether a user gave the client a name, group, key or exclusion, or merged it, so that it is never evicted or
 * replaced.
 */
export function isManual(record: Pick<ClientRecord, Settings>): boolean {
  const { name, groupId, key, deviceId, excludeFromLog, excludeFromStats } = record;
  const isExcluded = excludeFromLog || excludeFromStats;
  return name !== null || groupId !== null || key !== null || deviceId !== null || isExcluded;
}

/** Updates a record from the database; newer sightings are kept. */
export function applyStored(known: ClientRecord, stored: StoredClient): void {
  known.id = stored.id;
  known.mac = stored.mac;
  known.ip = known.isDirty && stored.mac !== null ? (known.ip ?? stored.ip) : stored.ip;
  known.key = stored.key;
  known.name = stored.name;
  known.groupId = stored.groupId;
  known.deviceId = stored.deviceId;
  known.isAcknowledged = stored.isAcknowledged;
  known.excludeFromLog = stored.excludeFromLog;
  known.excludeFromStats = stored.excludeFromStats;
  known.hostname ??= stored.hostname;
  known.firstSeenMs = earliest(known.firstSeenMs, stored.firstSeenMs);
  known.lastSeenMs = latest(known.lastSeenMs, stored.lastSeenMs);
  known.storedQueries = stored.queryCount;
}

/** Adds the sightings of one record to another, including queries that are already stored. */
export function addSeen(into: ClientRecord, from: ClientRecord): void {
  into.newQueries += from.storedQueries + from.newQueries;
  into.firstSeenMs = earliest(into.firstSeenMs, from.firstSeenMs);
  into.lastSeenMs = latest(into.lastSeenMs, from.lastSeenMs);
}

export function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

export function latest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

/** Records that the client was at `address`. */
export function noteAddress(record: ClientRecord, address: string): void {
  if (record.addresses[0] === address) return;
  record.addresses = [address, ...record.addresses.filter((other) => other !== address)].slice(
    0,
    MAX_ADDRESSES,
  );
}

const NEW_MS = 86_400_000;

/**
 * Whether the client was first seen in the last day, and has no name or other setting that shows that users know it.
 */
export function isNew(record: ClientRecord, nowMs: number): boolean {
  const { firstSeenMs, name, deviceId, isAcknowledged } = record;
  if (firstSeenMs === null || name !== null || deviceId !== null || isAcknowledged) return false;
  return firstSeenMs > nowMs - NEW_MS;
}
