/**
 * Recognizes known clients at new addresses by their MAC. The control plane learns of a new address within about a
 * second, but the first query from the new address already gets the client's policy. The kernel's neighbour table maps
 * the address to a MAC; policy also stores each MAC as an address (`macIdentity`).
 */
import type { Clock } from '../../shared/clock.ts';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import { macIdentity } from '../../shared/net/mac.ts';
import type { ReadNeighbours } from '../../shared/net/kernel/neighbour-table.ts';
import {
  blockedEntry,
  exclusionOf,
  isAdmitted,
  isBlocked,
  recordOf,
  withExclusion,
  withRecord,
} from '../../shared/snapshot/client-table.ts';
import { Exclusion } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';
import type { OpenSnapshot } from './open-snapshot.ts';

/** Parts of a snapshot that `Newcomers` needs. */
export type NewcomerSnapshot = Pick<OpenSnapshot, 'clients' | 'grants' | 'namedClients'>;

/**
 * Milliseconds for which a copy of the table is used for the addresses in it; the control plane learns of a new address
 * sooner.
 */
const TABLE_MS = 5000;
/**
 * Maximum number of reads of the table for one address without a neighbour: clients behind a router are never in the
 * table.
 */
const MAX_READS_OF_ONE = 32;
/** Maximum number of remembered addresses without a neighbour. */
const MAX_ABSENT = 4096;
/**
 * Maximum time for reading the table per second (one read takes 25 us in a small network): senders can invent
 * addresses.
 */
const BUDGET_MS = 50;
const SECOND_MS = 1000;

/** Recognizes clients. Each thread has one. */
export class Newcomers {
  /** Whether the last result of `entryOf` is valid until the snapshot changes. */
  isSettled = true;
  private readonly read: ReadNeighbours;
  private readonly clock: Clock;
  private table: ReadonlyMap<string, string> = new Map();
  private readAtMs = -Infinity;
  /** How often the table was read for an address that is not in it. */
  private readonly absent = new Map<string, number>();
  private budgetMs = BUDGET_MS;
  private paidAtMs = -Infinity;

  constructor(read: ReadNeighbours, clock: Clock) {
    this.read = read;
    this.clock = clock;
  }

  /** The client's entry in the client table; sets `query.identity` if the client was recognized by its MAC. */
  entryOf(query: Query, snapshot: NewcomerSnapshot): number {
    const { clients, grants, namedClients } = snapshot;
    this.isSettled = true;
    const entry = clients.findOf(query);
    // Refused clients are not looked up: their addresses may be forged.
    if (clients.isByMac(entry) || !isAdmitted(entry)) return entry;
    if (!clients.hasMacs && !grants.hasAddresses && !namedClients.hasAddresses) return entry;
    const mac = this.macAt(query);
    if (mac === undefined) return entry;
    const identity = addressFromText(macIdentity(mac))!;
    const { clientBytes, clientAt } = query;
    const ofMac = clients.findOf({ clientBytes: identity, clientAt: 0 });
    const isByGroup = clients.isByMac(ofMac);
    const isByGrant = grants.knows(identity, 0) && !grants.knows(clientBytes, clientAt);
    const isByName = namedClients.knows(identity, 0) && !namedClients.knows(clientBytes, clientAt);
    const exclusion = exclusionOf(ofMac);
    if (!isByGroup && !isByGrant && !isByName && !isBlocked(ofMac) && exclusion === Exclusion.NONE)
      return entry;
    // Every query from this address is looked up until a snapshot contains the address.
    this.isSettled = false;
    query.identity = identity;
    if (isBlocked(ofMac)) return blockedEntry(entry);
    const placed = isByGroup ? withRecord(entry, recordOf(ofMac)) : entry;
    return exclusion === Exclusion.NONE ? placed : withExclusion(placed, exclusion);
  }

  /** The MAC at the client's address; undefined = none, or the time for lookups is used up. */
  private macAt({ clientBytes, clientAt, arrivedMonotonicMs }: Query): string | undefined {
    const address = addressToText(clientBytes, clientAt);
    const isRecent = arrivedMonotonicMs - this.readAtMs < TABLE_MS;
    const known = isRecent ? this.table.get(address) : undefined;
    if (known !== undefined) return known;
    const reads = this.absent.get(address) ?? 0;
    if (reads >= MAX_READS_OF_ONE) return undefined;
    this.isSettled = false;
    // Read the table only once after the query has arrived: another read would not help.
    if (this.readAtMs < arrivedMonotonicMs && !this.refresh()) return undefined;
    const mac = this.table.get(address);
    if (mac === undefined) this.noteAbsent(address, reads + 1);
    else {
      this.absent.delete(address);
      this.isSettled = true;
    }
    return mac;
  }

  /** Reads the table; false = its share of the thread's time is used up. */
  private refresh(): boolean {
    const beganMs = this.clock.monotonicMs();
    const earnedMs = ((beganMs - this.paidAtMs) * BUDGET_MS) / SECOND_MS;
    this.budgetMs = Math.min(this.budgetMs + earnedMs, BUDGET_MS);
    this.paidAtMs = beganMs;
    if (this.budgetMs <= 0) return false;
    this.table = new Map(this.read().map(({ address, mac }) => [address, mac]));
    this.readAtMs = beganMs;
    this.budgetMs -= this.clock.monotonicMs() - beganMs;
    return true;
  }

  private noteAbsent(address: string, reads: number): void {
    if (this.absent.size >= MAX_ABSENT) this.absent.clear();
    this.absent.set(address, reads);
  }
}
