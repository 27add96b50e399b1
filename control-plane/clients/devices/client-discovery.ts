/**
 * Discovers clients from traffic: reads sightings from the DNS threads, looks up the MACs of new addresses, applies
 * changed addresses of clients that are identified by MAC, and writes to the database: new clients within a second, all
 * other changes once a minute. Without a database, it continues in memory.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../storage/db/database.ts';
import { ClockWatch } from '../../host/clock/clock-watch.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { PolicyMacClient } from '../../policy/change/rows.ts';
import { type ClientDirectory, MAX_CLIENTS } from './client-directory.ts';
import type { ClientRecord, Sighting, StoredClient } from './client-record.ts';
import { KeySightings } from '../keys/key-sightings.ts';
import { storeKeySightings } from '../keys/key-sighting-store.ts';
import * as store from './client-store.ts';
import type { HostNames } from './host-names.ts';
import type { LeaseWatch } from './lease-watch.ts';
import type { ReadNeighbours } from '../../../shared/net/kernel/neighbour-table.ts';

const TICK_MS = 1000;
/**
 * Milliseconds between two reads of the neighbour table, even without new addresses, because a device may get the
 * address of another one.
 */
const NEIGHBOURS_MS = 5000;
const LEASES_MS = 5000;
const NAMES_MS = 5000;
const WRITE_MS = 60_000;
const DELETE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** State in which no client has a group by MAC, and no rule identifies a client. */
const NOTHING_APPLIED = JSON.stringify([[], []]);
/** Maximum number of clients per statement. */
const BATCH = 2000;

/** Dependencies of discovery. */
export interface DiscoveryParts {
  readonly directory: ClientDirectory;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns addresses from which queries came since the last call. */
  readonly sweep: () => readonly Sighting[];
  readonly neighbours: ReadNeighbours;
  readonly leases: LeaseWatch;
  readonly hostNames: Pick<HostNames, 'want'>;
  /** Clients that the active policy identifies by MAC. */
  readonly macClients: () => readonly PolicyMacClient[];
  /** Clients that active rules identify by MAC or by name. */
  readonly ruleClients: () => readonly string[];
  /** Applies the addresses of clients to the active policy. */
  readonly applyLive: () => Promise<void>;
  /** Days after which a client without a name or group is removed. */
  readonly keepDays: () => number;
}

/** Discovers and stores the clients of this node. */
export class ClientDiscovery {
  private readonly parts: DiscoveryParts;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> = Promise.resolve();
  private isBusy = false;
  private hasLoaded = false;
  /** Last applied state: the addresses of clients with a group by MAC, and of clients in rules. */
  private applied = NOTHING_APPLIED;
  /** When each task is due, as `clock.monotonicMs()`. */
  private readonly dueMs = { neighbours: 0, leases: 0, names: 0, write: 0, forget: 0 };
  private readonly clockWatch: ClockWatch;
  private readonly keys = new KeySightings();

  constructor(parts: DiscoveryParts) {
    this.parts = parts;
    this.clockWatch = new ClockWatch(parts.clock);
  }

  /** Starts discovery. */
  start(): void {
    this.dueMs.write = this.parts.clock.monotonicMs() + WRITE_MS;
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** Loads the stored clients; called each time the database becomes available. */
  async load(): Promise<void> {
    this.parts.directory.load(await store.readClients(this.parts.database, MAX_CLIENTS));
    this.hasLoaded = true;
    // The policy needs the addresses that clients had before the restart.
    await this.applyAddresses();
  }

  /** Reads changes of clients by users on any node. */
  async followSettings(): Promise<void> {
    if (!this.hasLoaded) return;
    const { directory, database } = this.parts;
    directory.takeOver(await store.readSetClients(database, directory.setIds()));
  }

  /** Reads the last sightings and writes all changes. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.turn;
    this.takeSightings();
    await this.write('all');
  }

  /** Runs all tasks that are due; called by the timer and by tests. */
  async check(): Promise<void> {
    const { clock } = this.parts;
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.dueMs.leases) {
      this.dueMs.leases = nowMs + LEASES_MS;
      if (await this.parts.leases.refresh()) {
        this.nameAll();
        await this.parts.applyLive(); // Host names in leases are local names.
      }
    }
    const hasNews = this.takeSightings();
    if (hasNews || this.areNamesDue(nowMs)) await this.applyAddresses();
    const isDue = nowMs >= this.dueMs.write;
    if (isDue) this.dueMs.write = nowMs + WRITE_MS;
    await this.write(isDue ? 'all' : 'new');
    if (nowMs >= this.dueMs.forget) await this.deleteUnused(nowMs);
  }

  private tick(): void {
    if (this.isBusy) return;
    this.isBusy = true;
    this.turn = this.check()
      .catch((error: unknown) =>
        this.parts.logger.error('could not discover clients', {
          reason: reasonOf(error),
        }),
      )
      .finally(() => {
        this.isBusy = false;
      });
  }

  /** Counts sightings; returns whether the MAC of any address changed. */
  private takeSightings(): boolean {
    const { directory, sweep, clock } = this.parts;
    const sightings = sweep();
    const hasNewAddress = sightings.some(
      ({ address, clientId }) => clientId === undefined && !directory.isLocated(address),
    );
    const isDue = clock.monotonicMs() >= this.dueMs.neighbours;
    const hasNews = (hasNewAddress || isDue) && this.readNeighbours();
    for (const sighting of sightings) {
      if (sighting.clientId === undefined) this.name(directory.see(sighting), sighting.address);
      else this.takeKeyed(sighting.clientId, sighting);
    }
    return hasNews;
  }

  private takeKeyed(clientId: number, sighting: Sighting): void {
    const { directory } = this.parts;
    directory.seeKeyed(clientId, sighting);
    const key = directory.get(clientId)?.key ?? null;
    if (key !== null) this.keys.note(clientId, key, sighting.lastSeenMs);
  }

  private readNeighbours(): boolean {
    this.dueMs.neighbours = this.parts.clock.monotonicMs() + NEIGHBOURS_MS;
    return this.parts.directory.locateAll(this.parts.neighbours());
  }

  /** Names change without notice, so names in rules are looked up periodically. */
  private areNamesDue(nowMs: number): boolean {
    if (nowMs < this.dueMs.names || this.parts.ruleClients().length === 0) return false;
    this.dueMs.names = nowMs + NAMES_MS;
    return true;
  }

  /**
   * Applies addresses if they affect policy; those of most devices do not, because the devices have no separate group.
   */
  private async applyAddresses(): Promise<void> {
    const { directory, macClients, ruleClients, applyLive } = this.parts;
    const addresses = directory.addressesOf(macClients());
    const named = directory.locateNamed(ruleClients());
    const applied = JSON.stringify([addresses.map(({ address, groupId }) => `${address} ${groupId}`), named]);
    if (applied === this.applied) return;
    await applyLive();
    this.applied = applied;
  }

  private name(record: ClientRecord, address: string): void {
    const leased = this.parts.leases.hostnameOf(address, record.mac);
    if (leased !== null) this.parts.directory.nameHost(record, leased);
    else this.parts.hostNames.want(address);
  }

  private nameAll(): void {
    for (const record of this.parts.directory.all().flatMap((one) => this.parts.directory.partsOf(one))) {
      const leased = this.parts.leases.hostnameOf(record.ip, record.mac);
      if (leased !== null) this.parts.directory.nameHost(record, leased);
    }
  }

  private async write(which: 'new' | 'all'): Promise<void> {
    if (!this.hasLoaded || this.parts.database.status().state !== 'up') return;
    await this.unlessUnavailable(async () => {
      for (;;) {
        const records = this.parts.directory.dirty(BATCH, which);
        if (records.length === 0) break;
        await this.writeBatch(records);
        if (records.length < BATCH) break;
      }
      const keyed = this.keys.due(which);
      await storeKeySightings(this.parts.database, keyed);
      this.keys.settle(keyed);
      const { ids, settle } = this.parts.directory.obsoleteIds();
      if (ids.length > 0) await store.deleteUntouched(this.parts.database, ids);
      settle();
    });
  }

  private async writeBatch(records: readonly ClientRecord[]): Promise<void> {
    const { database } = this.parts;
    const known = records.filter(({ id }) => id !== null);
    const byMac = records.filter(({ id, mac }) => id === null && mac !== null);
    const byIp = records.filter(({ id, mac }) => id === null && mac === null);
    await this.send(known, async () => {
      await store.addSightings(database, known);
      return [];
    });
    await this.send(byMac, () => store.insertSeen(database, byMac, 'mac'));
    await this.send(byIp, () => store.insertSeen(database, byIp, 'ip'));
  }

  /** Stores records and marks them as stored; failures are retried later. */
  private async send(records: readonly ClientRecord[], work: () => Promise<StoredClient[]>): Promise<void> {
    if (records.length === 0) return;
    const sent = records.map((record) => {
      record.isDirty = false;
      return { record, queries: record.newQueries, key: record.mac ?? record.ip };
    });
    let rows: StoredClient[];
    try {
      rows = await work();
    } catch (error) {
      for (const { record } of sent) record.isDirty = true;
      throw error;
    }
    const byKey = new Map(rows.map((row) => [row.mac ?? row.ip, row]));
    for (const { record, queries, key } of sent)
      this.parts.directory.settle(record, queries, byKey.get(key) ?? null);
  }

  private async deleteUnused(nowMs: number): Promise<void> {
    const { clock, database, directory, keepDays } = this.parts;
    if (!this.hasLoaded || database.status().state !== 'up') return;
    this.dueMs.forget = nowMs + DELETE_MS;
    // No client is removed while the clock may be wrong, because all clients could then look old.
    if (!this.clockWatch.isSettled()) return;
    await this.unlessUnavailable(async () => {
      const ids = await store.deleteUnseen(database, clock.nowMs() - keepDays() * DAY_MS);
      for (const id of ids) directory.remove(id);
    });
  }

  private async unlessUnavailable(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      this.parts.logger.debug('could not write clients; retrying later', { reason: error.message });
    }
  }
}
