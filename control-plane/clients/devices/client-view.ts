/** Turns client records into API objects and searches them. */
import type { Client, ClientPage, ClientQuery } from '../../../shared/api/policy/clients-api.ts';
import { isRandomMac } from '../../../shared/net/mac.ts';
import { vendorOf } from '../vendors/vendor-table.ts';
import type { ClientDirectory, ClientGrouping } from './client-directory.ts';
import type { ClientRecord } from './client-record.ts';

/** A record that the database has, with its group. */
export function shownClient(record: ClientRecord, { groupId, source }: ClientGrouping): Client {
  return {
    id: record.id!,
    ip_address: record.ip,
    mac_address: record.mac,
    ...interfaceOf(record.mac),
    client_key: record.key,
    hostname: record.hostname,
    name: record.name,
    group_id: groupId,
    group_source: source,
    first_seen: momentText(record.firstSeenMs),
    last_seen: momentText(record.lastSeenMs),
    query_count: record.storedQueries + record.newQueries,
    exclude_from_log: record.excludeFromLog,
    exclude_from_stats: record.excludeFromStats,
  };
}

/** Facts about the device that follow from its MAC. */
export function interfaceOf(mac: string | null): Pick<Client, 'vendor' | 'private_address'> {
  return { vendor: vendorOf(mac), private_address: mac !== null && isRandomMac(mac) };
}

/** A page of matching clients, the last seen first. */
export function pageOfClients(
  clients: ClientDirectory,
  { limit, offset, ...filter }: ClientQuery,
): ClientPage {
  const found = findClients(clients, filter);
  const data = found
    .slice(offset, offset + limit)
    .map(({ record, grouping }) => shownClient(record, grouping));
  return { data, total: found.length, limit, offset };
}

/** Matching clients, the last seen first. */
export function findClients(
  directory: ClientDirectory,
  { search, group_id: groupId, group_source: source }: Omit<ClientQuery, 'limit' | 'offset'>,
): { record: ClientRecord; grouping: ClientGrouping }[] {
  const part = search?.toLowerCase();
  const found: { record: ClientRecord; grouping: ClientGrouping }[] = [];
  for (const record of directory.all()) {
    if (part !== undefined && !speaksOf(record, part)) continue;
    const grouping = directory.groupOf(record);
    if (groupId !== undefined && grouping.groupId !== groupId) continue;
    if (source !== undefined && grouping.source !== source) continue;
    found.push({ record, grouping });
  }
  return found;
}

function speaksOf({ ip, mac, key, addresses, hostname, name }: ClientRecord, part: string): boolean {
  const speaks = (text: string | null): boolean => text?.toLowerCase().includes(part) === true;
  return [ip, mac, key, hostname, name, ...addresses].some(speaks) || speaks(vendorOf(mac));
}

/** A moment as the API writes it. */
export function momentText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
