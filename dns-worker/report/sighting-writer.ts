/**
 * Per-thread data of each client: number of queries and time of the last query, which the control plane collects, and
 * the client's record in the snapshot's client table, so that ten thousand subnets are searched once per client and
 * snapshot. The number of clients is limited: a new client replaces the least recently seen client.
 */
import { ClientSightingsLayout as L, KEYED_SIGHTING } from '../../shared/memory/sighting-layout.ts';
import { addressWord } from '../../shared/net/ip.ts';
import { isAdmitted } from '../../shared/snapshot/client-table.ts';
import { type KeyedClients, keyedEntry } from '../../shared/snapshot/keyed-clients.ts';
import type { Newcomers, NewcomerSnapshot } from '../policy/newcomers.ts';
import type { Query } from '../query/query.ts';

const SLOT_MASK = L.SLOTS - 1;
const FACTOR = 0x9e3779b1 | 0;

/** The parts of a snapshot that contain data about clients. */
export interface SightingSnapshot extends NewcomerSnapshot {
  readonly version: number;
  readonly keys: KeyedClients;
}

/** Write side of one thread's sightings. */
export class ClientSightings {
  protected readonly words: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
  }

  /** Counts the query for its client if the client is allowed; returns the client's entry in the client table. */
  count(query: Query, snapshot: SightingSnapshot, newcomers: Newcomers): number {
    const { words } = this;
    const { version } = snapshot;
    const { clientBytes, clientAt } = query;
    const word0 = addressWord(clientBytes, clientAt);
    const word1 = addressWord(clientBytes, clientAt + 4);
    const word2 = addressWord(clientBytes, clientAt + 8);
    const word3 = addressWord(clientBytes, clientAt + 12);
    const found = this.findSlot(word0, word1, word2, word3, query.arrivedSecs);
    // The version is inverted, so that an empty slot does not match any version.
    if (found >= 0 && words[found + L.SNAPSHOT_AT] === ~version) {
      this.countAt(found, query.arrivedSecs);
      return words[found + L.ENTRY_AT]!;
    }
    const entry = newcomers.entryOf(query, snapshot);
    // Refused clients get no slot: their addresses may be forged.
    if (!isAdmitted(entry)) return entry;
    const at = found >= 0 ? found : this.assign(~found, word0, word1, word2, word3);
    this.countAt(at, query.arrivedSecs);
    words[at + L.ENTRY_AT] = entry;
    words[at + L.SNAPSHOT_AT] = newcomers.isSettled ? ~version : 0;
    return entry;
  }

  /** Counts a query in a slot. A count wraps to 1, since 0 marks a free slot. */
  protected countAt(at: number, nowSecs: number): void {
    const { words } = this;
    words[at + L.LAST_SEEN_AT] = nowSecs;
    words[at + L.COUNT_AT] = (words[at + L.COUNT_AT]! + 1) | 0 || 1;
  }

  /** Word at which the slot of the address starts; assigns a slot if the address does not have one. */
  protected slotFor(word0: number, word1: number, word2: number, word3: number, nowSecs: number): number {
    const found = this.findSlot(word0, word1, word2, word3, nowSecs);
    return found >= 0 ? found : this.assign(~found, word0, word1, word2, word3);
  }

  /**
   * Word at which the slot of the address starts; if the address has no slot, the inverted word of a slot that may be
   * assigned to it.
   */
  private findSlot(word0: number, word1: number, word2: number, word3: number, nowSecs: number): number {
    const { words } = this;
    const hash = hashOf(word0, word1, word2, word3);
    let oldest = (hash & SLOT_MASK) << L.SLOT_SHIFT;
    let longestSecs = 0;
    for (let probe = 0; probe < L.PROBES; probe++) {
      const at = ((hash + probe) & SLOT_MASK) << L.SLOT_SHIFT;
      if (words[at + L.COUNT_AT] === 0) return ~at;
      if (
        words[at + 3] === word3 &&
        words[at + 2] === word2 &&
        words[at + 1] === word1 &&
        words[at] === word0
      )
        return at;
      const unseenSecs = (nowSecs - words[at + L.LAST_SEEN_AT]!) | 0;
      if (unseenSecs > longestSecs) {
        longestSecs = unseenSecs;
        oldest = at;
      }
    }
    return ~oldest;
  }

  /** Assigns a slot to an address and returns it; its count is 0 until the slot is complete. */
  private assign(at: number, word0: number, word1: number, word2: number, word3: number): number {
    const { words } = this;
    Atomics.store(words, at + L.COUNT_AT, 0);
    Atomics.store(words, at, word0);
    Atomics.store(words, at + 1, word1);
    Atomics.store(words, at + 2, word2);
    Atomics.store(words, at + 3, word3);
    words[at + L.SNAPSHOT_AT] = 0;
    return at;
  }
}

/** Spreads addresses that differ in a few low bits over all slots. */
function hashOf(word0: number, word1: number, word2: number, word3: number): number {
  let hash = Math.imul(word0, FACTOR) ^ word1;
  hash = Math.imul(hash ^ (hash >>> 15), FACTOR) ^ word2;
  hash = Math.imul(hash ^ (hash >>> 15), FACTOR) ^ word3;
  hash = Math.imul(hash ^ (hash >>> 15), FACTOR);
  return hash ^ (hash >>> 13);
}

/**
 * Write side of a resolve thread's sightings: queries with a client's key are counted for that client, regardless of
 * their address. The answer thread, whose UDP queries have no keys, uses `ClientSightings`.
 */
export class KeyedSightings extends ClientSightings {
  override count(query: Query, snapshot: SightingSnapshot, newcomers: Newcomers): number {
    const keyed = query.clientKey === '' ? null : snapshot.keys.find(query.clientKey);
    query.keyed = keyed;
    if (keyed === null) return super.count(query, snapshot, newcomers);
    const entry = keyedEntry(keyed, newcomers.entryOf(query, snapshot));
    if (!isAdmitted(entry)) return entry;
    this.countAt(this.slotFor(KEYED_SIGHTING, keyed.clientId, 0, 0, query.arrivedSecs), query.arrivedSecs);
    return entry;
  }
}
