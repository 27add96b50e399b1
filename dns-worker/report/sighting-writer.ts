/**
 * What a thread stores per client: how often and when it asked last, for the control plane to collect, and its record
 * in the snapshot's client table, so that ten thousand subnets are searched once per client and snapshot. Bounded: a
 * new client replaces the least recently seen one.
 */
import { ClientSightingsLayout as L } from '../../shared/memory/sighting-layout.ts';
import { addressWord } from '../../shared/net/ip.ts';
import type { KeyedClients } from '../../shared/snapshot/keyed-clients.ts';
import type { Newcomers, NewcomerSnapshot } from '../policy/newcomers.ts';
import type { Query } from '../query/query.ts';

const SLOT_MASK = L.SLOTS - 1;
const FACTOR = 0x9e3779b1 | 0;

/** What a snapshot says of clients. */
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

  /** Counts the query for its client; returns the number of the client's record in the client table. */
  count(query: Query, snapshot: SightingSnapshot, newcomers: Newcomers): number {
    const { words } = this;
    const { version } = snapshot;
    const { clientBytes, clientAt } = query;
    const word0 = addressWord(clientBytes, clientAt);
    const word1 = addressWord(clientBytes, clientAt + 4);
    const word2 = addressWord(clientBytes, clientAt + 8);
    const word3 = addressWord(clientBytes, clientAt + 12);
    const at = this.slotFor(word0, word1, word2, word3, query.arrivedSecs);
    words[at + L.LAST_SEEN_AT] = query.arrivedSecs;
    // A count wraps to 1, since 0 marks a free slot.
    words[at + L.COUNT_AT] = (words[at + L.COUNT_AT]! + 1) | 0 || 1;
    // Inverted, so that an empty slot is of no version.
    if (words[at + L.SNAPSHOT_AT] === ~version) return words[at + L.RECORD_AT]!;
    const record = newcomers.recordOf(query, snapshot);
    words[at + L.RECORD_AT] = record;
    words[at + L.SNAPSHOT_AT] = newcomers.isSettled ? ~version : 0;
    return record;
  }

  /** Word at which the slot of the address starts; takes a slot if the address has none. */
  protected slotFor(word0: number, word1: number, word2: number, word3: number, nowSecs: number): number {
    const { words } = this;
    const hash = hashOf(word0, word1, word2, word3);
    let oldest = (hash & SLOT_MASK) << L.SLOT_SHIFT;
    let longestSecs = 0;
    for (let probe = 0; probe < L.PROBES; probe++) {
      const at = ((hash + probe) & SLOT_MASK) << L.SLOT_SHIFT;
      if (words[at + L.COUNT_AT] === 0) {
        this.take(at, word0, word1, word2, word3);
        return at;
      }
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
    this.take(oldest, word0, word1, word2, word3);
    return oldest;
  }

  /** Assigns a slot to an address; its count is 0 until the slot is complete. */
  private take(at: number, word0: number, word1: number, word2: number, word3: number): void {
    const { words } = this;
    Atomics.store(words, at + L.COUNT_AT, 0);
    Atomics.store(words, at, word0);
    Atomics.store(words, at + 1, word1);
    Atomics.store(words, at + 2, word2);
    Atomics.store(words, at + 3, word3);
    words[at + L.SNAPSHOT_AT] = 0;
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
