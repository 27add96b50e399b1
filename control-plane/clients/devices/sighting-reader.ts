/**
 * Reads the clients that have sent queries from the memory in which the DNS threads count them, without involving the
 * threads.
 */
import { ClientSightingsLayout as L, KEYED_SIGHTING } from '../../../shared/memory/sighting-layout.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import { addressToText } from '../../../shared/net/ip.ts';

/** A client that has sent queries since the previous sweep. */
export interface ClientSighting {
  /** Address literal; IPv4 dotted. '' for a client that identified itself by its key. */
  readonly address: string;
  /** Id of a client that identified itself by its key. */
  readonly clientId?: number;
  /** Number of queries since the previous sweep. */
  readonly queries: number;
  /** Unix milliseconds of the last query, in whole seconds. */
  readonly lastSeenMs: number;
}

/** Read side of the sightings of all threads. */
export class ClientSightings {
  private readonly threads: readonly ThreadSightings[];

  constructor(memories: readonly Pick<WorkerMemory, 'answerClients' | 'resolveClients'>[]) {
    this.threads = memories.flatMap(({ answerClients, resolveClients }) => [
      new ThreadSightings(answerClients),
      new ThreadSightings(resolveClients),
    ]);
  }

  /**
   * The clients that have sent queries since the last sweep, without duplicates, in the order in which they were last
   * seen. If a client loses its slot in shared memory between two sweeps, its queries are missing; this only happens
   * with tens of thousands of clients.
   */
  sweep(): ClientSighting[] {
    const found = new Map<string | number, ClientSighting>();
    for (const thread of this.threads)
      thread.sweep((client, queries, lastSeenSecs) => {
        const key = client.clientId ?? client.address;
        const before = found.get(key);
        const lastSeenMs = Math.max(lastSeenSecs * 1000, before?.lastSeenMs ?? 0);
        found.set(key, { ...client, queries: queries + (before?.queries ?? 0), lastSeenMs });
      });
    return [...found.values()].sort((one, other) => one.lastSeenMs - other.lastSeenMs);
  }
}

type ReportSighting = (
  client: Pick<ClientSighting, 'address' | 'clientId'>,
  queries: number,
  lastSeenSecs: number,
) => void;

/** One thread's memory, and its content at the last sweep. */
class ThreadSightings {
  private readonly words: Int32Array;
  private readonly before: Int32Array;
  private readonly address = new DataView(new ArrayBuffer(16));

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
    this.before = new Int32Array(buffer.byteLength / Int32Array.BYTES_PER_ELEMENT);
  }

  sweep(report: ReportSighting): void {
    const { words, before } = this;
    for (let at = 0; at < words.length; at += L.SLOT_WORDS) {
      // A non-atomic read is sufficient for this quick check: if it misses a change, the next sweep finds the change.
      const count = words[at + L.COUNT_AT]!;
      if (count !== 0 && (count !== before[at + L.COUNT_AT] || !this.isSameAddress(at)))
        this.sweepSlot(at, report);
    }
  }

  /** Whether a slot still has the address of the last sweep. */
  private isSameAddress(at: number): boolean {
    for (let word = at + L.ADDRESS_AT; word < at + L.ADDRESS_AT + 4; word++)
      if (Atomics.load(this.words, word) !== this.before[word]) return false;
    return true;
  }

  /** Reports a slot. If the slot is being reassigned, the next sweep reports it. */
  private sweepSlot(at: number, report: ReportSighting): void {
    const { words, before, address } = this;
    const count = Atomics.load(words, at + L.COUNT_AT) >>> 0;
    const isSame = this.isSameAddress(at);
    for (let word = 0; word < 4; word++)
      address.setInt32(word * 4, Atomics.load(words, at + L.ADDRESS_AT + word));
    const lastSeenSecs = Atomics.load(words, at + L.LAST_SEEN_AT) >>> 0;
    const after = Atomics.load(words, at + L.COUNT_AT) >>> 0;
    // If the count has decreased, the slot is being reassigned.
    if (count === 0 || after < count) return;
    const known = isSame ? before[at + L.COUNT_AT]! >>> 0 : 0;
    for (let word = 0; word < 4; word++) before[at + L.ADDRESS_AT + word] = address.getInt32(word * 4);
    before[at + L.COUNT_AT] = count;
    // If the count is lower than before, the address has lost its slot and got a new one.
    const queries = known < count ? count - known : count;
    const isKeyed = address.getInt32(0) === KEYED_SIGHTING;
    const client = isKeyed
      ? { address: '', clientId: address.getInt32(4) }
      : { address: addressToText(new Uint8Array(address.buffer)) };
    report(client, queries, lastSeenSecs);
  }
}
