/**
 * All clients that this node knows, in memory, with their addresses, groups, and sightings that are not stored yet. The
 * API reads this directory and needs no database. `client-discovery.ts` updates and stores the clients.
 */
import { DEFAULT_GROUP_ID } from '../../../shared/api/policy/groups-api.ts';
import type { GroupSource } from '../../../shared/api/policy/clients-api.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { macIdentity } from '../../../shared/net/mac.ts';
import type { ExcludedAddress, LocatedClient } from '../../policy/change/runtime-state.ts';
import type { PolicyClient, PolicyRows, PolicySubnet } from '../../policy/change/rows.ts';
import { DeviceParts, isPart } from '../parts/device-parts.ts';
import { addSeen, earliest, isManual, isNew, latest } from './client-record.ts';
import { newRecord, noteAddress, recordOf, applyStored } from './client-record.ts';
import type { ChangedClients, ClientRecord, SeenAddress, Sighting, StoredClient } from './client-record.ts';
import { type ExclusionRows, UncountedClients } from './excluded-clients.ts';
import { locateNamed } from './locate-named.ts';
import { NeighbourMap } from './neighbour-map.ts';
import type { Neighbour } from '../../../shared/net/kernel/neighbour-messages.ts';
import { SubnetIndex } from './subnet-index.ts';

/**
 * Maximum number of clients in memory; clients without a name or group are evicted first, the least recently seen
 * first.
 */
export const MAX_CLIENTS = 50_000;
/** Share of the clients that are evicted at a time. */
const EVICTED_SHARE = 0.05;

/** The group of a client, and its source. */
export interface ClientGrouping {
  readonly groupId: number;
  readonly source: GroupSource;
}

/** The clients of this node. */
export class ClientDirectory {
  private readonly clock: Clock;
  private readonly site: string;
  private readonly maxClients: number;
  private readonly records = new Set<ClientRecord>();
  private readonly byId = new Map<number, ClientRecord>();
  private readonly byMac = new Map<string, ClientRecord>();
  /** Clients without a MAC. */
  private readonly byIp = new Map<string, ClientRecord>();
  /** Clients with neither a MAC nor an address. */
  private readonly byKey = new Map<string, ClientRecord>();
  private readonly parts = new DeviceParts<ClientRecord>();
  private readonly macs = new NeighbourMap();
  /** Ids of rows that were merged into another client, or evicted. */
  private readonly obsolete = new Set<number>();
  private uncounted = new UncountedClients();
  private subnets: readonly PolicySubnet[] = [];
  private subnetIndex: SubnetIndex | undefined;

  /** `site` is `server.site`: addresses identify devices only within one site. */
  constructor({ site = '', maxClients = MAX_CLIENTS, clock = systemClock } = {}) {
    this.clock = clock;
    this.site = site;
    this.maxClients = maxClients;
  }

  /** Loads the rows of the database. Newer sightings are kept. */
  load(clients: readonly StoredClient[]): void {
    // An address belongs to the client that was last seen at the address.
    const newestFirst = clients.toSorted((a, b) => (b.lastSeenMs ?? 0) - (a.lastSeenMs ?? 0));
    for (const client of newestFirst) this.put(client);
  }

  /** Loads a row; sightings that are not stored yet are kept. */
  put(stored: StoredClient): ClientRecord {
    return this.putInto(this.byId.get(stored.id) ?? this.known(stored), stored);
  }

  /** Loads rows after a change by users. Clients may have exchanged identifiers in it. */
  takeOver({ clients, goneClients }: ChangedClients): void {
    const known = clients.map((client) => this.byId.get(client.id));
    for (const record of known) if (record !== undefined) this.unlink(record);
    for (const [at, client] of clients.entries()) this.putInto(known[at] ?? this.known(client), client);
    for (const id of goneClients) this.remove(id);
  }

  /** Ids of the clients with settings by users. */
  setIds(): number[] {
    return [...this.byId.values()].flatMap((record) => (isManual(record) ? [record.id!] : []));
  }

  private putInto(known: ClientRecord | undefined, stored: StoredClient): ClientRecord {
    if (known === undefined) {
      const record = recordOf(stored);
      this.add(record);
      return record;
    }
    this.unlink(known);
    applyStored(known, stored);
    if (known.addresses.length === 0) {
      known.addresses = [...stored.addresses];
      known.site = stored.site;
    }
    this.add(known);
    return known;
  }

  /** Removes a client and its parts. If it is seen again, it becomes a new client. */
  remove(id: number): void {
    const record = this.byId.get(id);
    if (record === undefined) return;
    for (const gone of isPart(record) ? [record] : this.parts.partsOf(record)) this.unlink(gone);
  }

  get(id: number): ClientRecord | undefined {
    return this.byId.get(id);
  }

  /** All stored clients, most recently seen first, without those that are part of another client. */
  all(): ClientRecord[] {
    const found: { record: ClientRecord; seenMs: number }[] = [];
    for (const record of this.byId.values())
      if (!isPart(record)) found.push({ record, seenMs: seenLast(this.parts.partsOf(record)) });
    found.sort((a, b) => b.seenMs - a.seenMs || a.record.id! - b.record.id!);
    return found.map(({ record }) => record);
  }

  /** All clients that are merged with this one, including itself; the main one first. */
  partsOf(record: ClientRecord): ClientRecord[] {
    return this.parts.partsOf(record);
  }

  /**
   * Last addresses of all clients that were seen since a time, including clients that are not stored; in no particular
   * order.
   */
  seenSince(sinceMs: number): SeenAddress[] {
    const seen: SeenAddress[] = [];
    for (const { ip: address, lastSeenMs } of this.records)
      if (address !== null && lastSeenMs !== null && lastSeenMs >= sinceMs)
        seen.push({ address, lastSeenMs });
    return seen;
  }

  /** The client last seen at an address. If it is part of another client, returns that client. */
  at(address: string): ClientRecord | undefined {
    const record = this.partAt(address);
    return record === undefined ? undefined : this.parts.mainOf(record);
  }

  /** The client last seen at an address, even if it is a part. */
  partAt(address: string): ClientRecord | undefined {
    const byIp = this.byIp.get(address);
    const mac = this.macs.macAt(address);
    const byMac = mac === null ? undefined : this.byMac.get(mac);
    // An address that a user enters means a client with its own name or group at this address.
    const isMeant =
      byIp !== undefined &&
      isManual(byIp) &&
      (byMac === undefined || this.parts.mainOf(byMac).groupId === null);
    return isMeant ? byIp : (byMac ?? byIp);
  }

  /**
   * The name of the client last seen at an address: the name that a user gave, or the host name. With `clientId`, the
   * name of this client, which identified itself by its key; null if it no longer exists.
   */
  nameAt(address: string, clientId: number | null = null): string | null {
    const record = clientId === null ? this.partAt(address) : this.byId.get(clientId);
    if (record === undefined) return null;
    const { name, hostname } = this.parts.mainOf(record);
    return name ?? record.hostname ?? hostname ?? (clientId === null ? null : record.key);
  }

  /** Group of a client; if no group is assigned to it, the group of its last address. */
  groupOf(record: ClientRecord): ClientGrouping {
    const { groupId, mac, ip } = this.parts.mainOf(record);
    if (groupId !== null) return { groupId, source: mac === null ? 'manual' : 'mac' };
    this.subnetIndex ??= new SubnetIndex(this.subnets);
    const ofSubnet = ip === null ? null : this.subnetIndex.groupOf(ip);
    return ofSubnet === null
      ? { groupId: DEFAULT_GROUP_ID, source: 'default' }
      : { groupId: ofSubnet, source: 'subnet' };
  }

  /** Number of clients per group. */
  countByGroup(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const record of this.byId.values()) {
      if (isPart(record)) continue;
      const { groupId } = this.groupOf(record);
      counts.set(groupId, (counts.get(groupId) ?? 0) + 1);
    }
    return counts;
  }

  /** Applies a new policy; returns the addresses of the clients that it identifies by MAC. */
  follow(rows: Pick<PolicyRows, 'macClients' | 'subnets'> & ExclusionRows): PolicyClient[] {
    const { macClients, subnets } = rows;
    this.uncounted = new UncountedClients(rows);
    if (this.subnets !== subnets) this.subnetIndex = undefined;
    this.subnets = subnets;
    return this.addressesOf(macClients);
  }

  /**
   * Addresses of the clients with a group by MAC; for each client, the first one represents addresses that are not
   * known yet.
   */
  addressesOf(macClients: PolicyRows['macClients']): PolicyClient[] {
    return macClients.flatMap(({ mac, groupId }) =>
      this.addressesOfMac(mac).map((address) => ({ address, groupId })),
    );
  }

  /** Addresses of clients with an exclusion; for a MAC, as in `addressesOfMac()`. */
  excludedAddresses(excluded: PolicyRows['excludedClients']): ExcludedAddress[] {
    return excluded.flatMap(({ mac, address, exclusion }) => {
      const addresses = mac === null ? [address!] : this.addressesOfMac(mac);
      return addresses.map((at) => ({ address: at, exclusion }));
    });
  }

  /** Addresses of a MAC; the first one represents addresses that are not known yet. */
  addressesOfMac(mac: string): string[] {
    return [macIdentity(mac), ...this.macs.addressesOf(mac)];
  }

  /** Addresses of the clients that rules identify by these MACs and names, in lower case. */
  locateNamed(names: readonly string[]): LocatedClient[] {
    const records = [...this.records].map((one) =>
      isPart(one) ? { ...one, name: this.parts.mainOf(one).name } : one,
    );
    return locateNamed(names, records, this.macs);
  }

  /** All known addresses of a client; undefined if the client does not exist. */
  placesOf(id: number): readonly string[] | undefined {
    const record = this.byId.get(id);
    if (record === undefined) return undefined;
    const places = this.parts.partsOf(record).flatMap(({ ip, mac, addresses }) => {
      const known = mac === null ? [] : this.macs.addressesOf(mac);
      return [...(ip === null ? [] : [ip]), ...addresses, ...known];
    });
    return [...new Set(places)];
  }

  isNew(record: ClientRecord): boolean {
    return isNew(record, this.clock.nowMs());
  }

  /** Ids with which the queries of a client are logged if it identifies itself by a key. */
  idsOf(id: number): readonly number[] {
    const record = this.byId.get(id);
    return record === undefined ? [] : this.parts.partsOf(record).map((part) => part.id!);
  }

  /** Whether the MAC at an address is known. */
  isLocated(address: string): boolean {
    return this.macs.macAt(address) !== null;
  }

  /** Records the MAC of an address; returns whether the MAC has changed. */
  locate(address: string, mac: string): boolean {
    if (!this.macs.learn(address, mac)) return false;
    const record = this.byMac.get(mac);
    if (record !== undefined) {
      this.noteHere(record, address);
      record.isDirty = true;
    }
    return true;
  }

  /** Records the whole neighbour table; returns whether anything changed. */
  locateAll(neighbours: readonly Neighbour[]): boolean {
    let hasNews = false;
    for (const { address, mac } of neighbours) if (this.locate(address, mac)) hasNews = true;
    return hasNews;
  }

  /** Counts a sighting for the client at its address. */
  see({ address, queries, lastSeenMs }: Sighting): ClientRecord {
    let record = this.partAt(address);
    const isLocated = this.macs.macAt(address) !== null;
    if (record === undefined || (isLocated && record.mac === null && !isManual(record)))
      record = this.create(address);
    // The client was only identified by its address until now, because its MAC was unknown.
    const byIp = this.byIp.get(address);
    if (byIp !== undefined && byIp !== record && !isManual(byIp)) this.merge(byIp, record);
    this.noteHere(record, address);
    record.ip = address;
    this.noteSeen(record, queries, lastSeenMs);
    return record;
  }

  /**
   * Counts a sighting for a client that identified itself by its key; ignored if the client no longer exists. The
   * address is not recorded, because it may belong to another client, such as a router.
   */
  seeKeyed(clientId: number, { queries, lastSeenMs }: Sighting): void {
    const record = this.byId.get(clientId);
    if (record === undefined) return;
    this.noteSeen(record, queries, lastSeenMs);
  }

  /** Sets the host name of the client at an address. */
  nameHost(record: ClientRecord, hostname: string | null): void {
    if (record.hostname === hostname) return;
    record.hostname = hostname;
    record.isDirty = true;
  }

  /** Records that the state of `record` that was sent to the database is stored. */
  settle(record: ClientRecord, sentQueries: number, stored: StoredClient | null): void {
    record.newQueries -= sentQueries;
    record.storedQueries += sentQueries;
    if (stored === null) return;
    this.put(stored);
  }

  /** At most `limit` records with unstored changes; optionally only new records. */
  dirty(limit: number, which: 'new' | 'all'): ClientRecord[] {
    const found: ClientRecord[] = [];
    for (const record of this.records) {
      if (!record.isDirty || (which === 'new' && record.id !== null)) continue;
      if (found.push(record) === limit) break;
    }
    return found;
  }

  /** Ids of rows to delete; call `settle` after deleting them. */
  obsoleteIds(): { ids: readonly number[]; settle: () => void } {
    const ids = [...this.obsolete];
    return { ids, settle: () => ids.forEach((id) => this.obsolete.delete(id)) };
  }

  /** Records that a client was seen; if statistics exclude the client, its queries are not counted. */
  private noteSeen(record: ClientRecord, queries: number, lastSeenMs: number): void {
    if (!this.uncounted.has(record)) record.newQueries += queries;
    record.firstSeenMs = earliest(record.firstSeenMs, lastSeenMs);
    record.lastSeenMs = latest(record.lastSeenMs, lastSeenMs);
    record.isDirty = true;
  }

  private create(ip: string): ClientRecord {
    if (this.records.size >= this.maxClients) this.evict();
    const record = newRecord(ip, this.macs.macAt(ip), this.site);
    this.add(record);
    return record;
  }

  private merge(from: ClientRecord, into: ClientRecord): void {
    this.unlink(from);
    addSeen(into, from);
    if (from.id !== null) this.obsolete.add(from.id);
  }

  private evict(): void {
    const candidates = [...this.records].filter((record) => !isManual(record));
    candidates.sort((a, b) => (a.lastSeenMs ?? 0) - (b.lastSeenMs ?? 0));
    for (const record of candidates.slice(0, Math.ceil(this.maxClients * EVICTED_SHARE))) {
      this.unlink(record);
      if (record.id !== null) this.obsolete.add(record.id);
    }
  }

  private known({ mac, ip, key }: Pick<ClientRecord, 'mac' | 'ip' | 'key'>): ClientRecord | undefined {
    if (mac !== null) return this.byMac.get(mac);
    return ip === null ? this.byKey.get(key ?? '') : this.byIp.get(ip);
  }

  private add(record: ClientRecord): void {
    // The client was only known from sightings, but a user has stored it since then.
    const double = this.known(record);
    if (double !== undefined && double !== record) this.merge(double, record);
    this.records.add(record);
    this.parts.add(record);
    if (record.id !== null) this.byId.set(record.id, record);
    if (record.mac !== null) this.byMac.set(record.mac, record);
    else if (record.ip !== null) this.byIp.set(record.ip, record);
    else if (record.key !== null) this.byKey.set(record.key, record);
    if (record.mac !== null && record.site === this.site) this.macs.restore(record.addresses, record.mac);
  }

  /** Records an address. Addresses from another site are removed: they belong to other devices here. */
  private noteHere(record: ClientRecord, address: string): void {
    if (record.site !== this.site) record.addresses = [];
    record.site = this.site;
    noteAddress(record, address);
  }

  private unlink(record: ClientRecord): void {
    this.records.delete(record);
    this.parts.remove(record);
    if (record.id !== null) this.byId.delete(record.id);
    if (record.mac !== null && this.byMac.get(record.mac) === record) this.byMac.delete(record.mac);
    if (record.ip !== null && this.byIp.get(record.ip) === record) this.byIp.delete(record.ip);
    if (record.key !== null && this.byKey.get(record.key) === record) this.byKey.delete(record.key);
  }
}

function seenLast(records: readonly ClientRecord[]): number {
  return Math.max(...records.map(({ lastSeenMs }) => lastSeenMs ?? 0));
}
