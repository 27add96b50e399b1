/** Searches client records and converts them to API objects. */
import type { Client, ClientPage, ClientQuery } from '../../../shared/api/policy/clients-api.ts';
import { isRandomMac } from '../../../shared/net/mac.ts';
import { vendorOf } from '../vendors/vendor-table.ts';
import { notFound } from '../../api/api-error.ts';
import type { ClientDirectory } from './client-directory.ts';
import { earliest, latest } from './client-record.ts';
import type { ClientRecord, StoredClient } from './client-record.ts';

/** Converts a stored record, with its group and its parts. */
export function toApiClient(
  directory: Pick<ClientDirectory, 'groupOf' | 'partsOf' | 'isNew'>,
  record: ClientRecord,
): Client {
  const { groupId, source } = directory.groupOf(record);
  const [main, ...others] = directory.partsOf(record) as [ClientRecord, ...ClientRecord[]];
  const merged = main === record ? others : [];
  const whole = [record, ...merged];
  return {
    id: record.id!,
    ip_address: record.ip,
    mac_address: record.mac,
    ...interfaceOf(record.mac),
    client_key: record.key,
    hostname: record.hostname,
    name: main.name,
    group_id: groupId,
    group_source: source,
    first_seen: momentText(whole.map(({ firstSeenMs }) => firstSeenMs).reduce(earliest)),
    last_seen: momentText(whole.map(({ lastSeenMs }) => lastSeenMs).reduce(latest)),
    query_count: whole.reduce((sum, part) => sum + part.storedQueries + part.newQueries, 0),
    exclude_from_log: main.excludeFromLog,
    exclude_from_stats: main.excludeFromStats,
    is_new: directory.isNew(record),
    merged_into: main === record ? null : main.id,
    merged: merged.map(toApiPart),
  };
}

function toApiPart(record: ClientRecord): Client['merged'][number] {
  return {
    id: record.id!,
    ip_address: record.ip,
    mac_address: record.mac,
    ...interfaceOf(record.mac),
    client_key: record.key,
    hostname: record.hostname,
    last_seen: momentText(record.lastSeenMs),
  };
}

/** Data about the device that can be derived from its MAC. */
export function interfaceOf(mac: string | null): Pick<Client, 'vendor' | 'private_address'> {
  return { vendor: vendorOf(mac), private_address: mac !== null && isRandomMac(mac) };
}

/**
 * A page of matching clients, most recently seen first; `own` contains the ids of clients that the caller may see, null
 * = all.
 */
export function pageOfClients(
  clients: ClientDirectory,
  { limit, offset, ...filter }: ClientQuery,
  own: ReadonlySet<number> | null = null,
): ClientPage {
  const all = findClients(clients, filter);
  const found = own === null ? all : all.filter(({ id }) => id !== null && own.has(id));
  const data = found.slice(offset, offset + limit).map((record) => toApiClient(clients, record));
  return { data, total: found.length, limit, offset };
}

/** Matching clients, most recently seen first. */
export function findClients(
  directory: ClientDirectory,
  filter: Omit<ClientQuery, 'limit' | 'offset'>,
): ClientRecord[] {
  const { search, group_id: groupId, group_source: source, is_new: isNew, is_unnamed: isUnnamed } = filter;
  const part = search?.toLowerCase();
  const found: ClientRecord[] = [];
  for (const record of directory.all()) {
    if (part !== undefined && !directory.partsOf(record).some((one) => isIdentifiedBy(one, part))) continue;
    const grouping = directory.groupOf(record);
    if (groupId !== undefined && grouping.groupId !== groupId) continue;
    if (source !== undefined && grouping.source !== source) continue;
    if (isNew !== undefined && directory.isNew(record) !== isNew) continue;
    if (isUnnamed !== undefined && (record.name === null && record.hostname === null) !== isUnnamed) continue;
    found.push(record);
  }
  return found;
}

function isIdentifiedBy({ ip, mac, key, addresses, hostname, name }: ClientRecord, part: string): boolean {
  const speaks = (text: string | null): boolean => text?.toLowerCase().includes(part) === true;
  return [ip, mac, key, hostname, name, ...addresses].some(speaks) || speaks(vendorOf(mac));
}

/** A time in the form of the API. */
export function momentText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A stored client in the form of the API; throws 404 if it does not exist. */
export function clientById(clients: ClientDirectory, id: number): Client {
  const record = clients.get(id);
  if (record === undefined) throw notFound(`client ${id}`);
  return toApiClient(clients, record);
}

/** The name of a client in messages. */
export function labelOf({ name, mac, ip, key }: StoredClient): string {
  return name ?? mac ?? ip ?? key ?? '';
}
