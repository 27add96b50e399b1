/** Finds the records of servers in the table that all threads of a node share (`capability-table.ts`). */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import {
  CapabilityTable,
  CapabilityWord,
  createCapabilityTable,
  RecordState,
} from '../../../shared/memory/capability-table.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import { CapabilityRecord } from './capability-record.ts';

/** The index of a transport is its code. */
const TRANSPORTS: readonly UpstreamSettings['transport'][] = ['udp', 'tcp', 'tls', 'https'];
/**
 * Number of times that a key is read while another thread is writing it, before the record is skipped: the other thread
 * may be dead.
 */
const MAX_READS = 1_000_000;

/**
 * A word of the address that is 0 in fe80::/64: the interface replaces it, because several routers may have the same
 * link-local address.
 */
const LINK_LOCAL_ZEROS = 1;

/** Finds the records. One per resolve thread. */
export class Capabilities {
  private readonly memory: SharedArrayBuffer;
  private readonly clock: Clock;

  /** `memory` is from `createCapabilityTable`; without it the records belong to this thread alone. */
  constructor(clock: Clock, memory = createCapabilityTable()) {
    this.memory = memory;
    this.clock = clock;
  }

  /** The record of a server; all threads get the same record. `ip` is an address literal. */
  of(
    server: { readonly ip: string; readonly port: number },
    transport: UpstreamSettings['transport'],
  ): CapabilityRecord {
    const key = keyOf(server.ip, server.port, TRANSPORTS.indexOf(transport));
    const words = this.find(key);
    return words === null ? ownRecord(this.clock) : new CapabilityRecord(words, this.clock);
  }

  /** The words of the record with this key; adds the record if it is missing; null = the table is full. */
  private find(key: Int32Array): Int32Array | null {
    for (let record = 0; record < CapabilityTable.RECORDS; record++) {
      const words = wordsOf(this.memory, record);
      const before = Atomics.compareExchange(
        words,
        CapabilityWord.STATE,
        RecordState.FREE,
        RecordState.TAKEN,
      );
      if (before === RecordState.FREE) {
        words.set(key, CapabilityWord.KEY);
        Atomics.store(words, CapabilityWord.STATE, RecordState.READY);
        return words;
      }
      if (isReady(words) && key.every((word, i) => words[CapabilityWord.KEY + i] === word)) return words;
    }
    return null;
  }
}

/** A record that is not shared with other servers or threads. */
export function ownRecord(clock: Clock): CapabilityRecord {
  return new CapabilityRecord(wordsOf(createCapabilityTable(1), 0), clock);
}

function wordsOf(memory: SharedArrayBuffer, record: number): Int32Array {
  const { RECORD_WORDS } = CapabilityTable;
  return new Int32Array(memory, record * RECORD_WORDS * 4, RECORD_WORDS);
}

function isReady(words: Int32Array): boolean {
  for (let attempt = 0; attempt < MAX_READS; attempt++) {
    const state = Atomics.load(words, CapabilityWord.STATE);
    if (state !== RecordState.TAKEN) return state === RecordState.READY;
  }
  // The other thread may be dead: mark the record, so that later lookups do not wait for that thread.
  Atomics.compareExchange(words, CapabilityWord.STATE, RecordState.TAKEN, RecordState.LOST);
  return false;
}

function keyOf(ip: string, port: number, transport: number): Int32Array {
  const key = new Int32Array(CapabilityWord.KEY_WORDS);
  new Uint8Array(key.buffer).set(addressFromText(ip) ?? new Uint8Array(16));
  const [, networkInterface] = ip.split('%');
  if (networkInterface !== undefined)
    key[LINK_LOCAL_ZEROS] = createHash('sha256').update(networkInterface).digest().readInt32LE();
  key[CapabilityWord.KEY_WORDS - 1] = port | (transport << 16);
  return key;
}
