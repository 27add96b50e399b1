/**
 * Questions in flight of an answer thread's first tries, in typed arrays: a record for each waiting request (as in the
 * miss ring), a chain of requests for each question, and a hash table of questions. No client network gets more than
 * its fair share.
 */
import { FlagsLow, Header, QUESTION_TAIL_SIZE, readU16 } from '../../shared/dns/wire.ts';
import { FOLD } from '../../shared/dns/name.ts';
import { MissFlags, MissRecord } from '../../shared/memory/miss-ring.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import { MissRecords } from '../misses/miss-records.ts';
import { NETWORK_SLOTS } from '../misses/miss-writer.ts';
import { isWithinShare } from '../policy/fair-share.ts';
import type { Query } from '../query/query.ts';

/** Maximum number of waiting requests. */
export const TRY_CAPACITY = 4096;
/** Maximum number of requests per question: limits a burst of answers (CVE-2024-33655 DNSBomb). */
const MAX_WAITERS = 256;
const NONE = -1;

/** Waiting requests; a question is identified by the index of its first request. */
export class OpenTries {
  readonly records = new MissRecords(new ArrayBuffer(TRY_CAPACITY * MissRecord.SIZE));
  /** Number of waiting requests. */
  size = 0;
  private readonly free = new Int32Array(TRY_CAPACITY);
  /** For each request: the slot of its network, and the next request with the same question. */
  private readonly network = new Uint16Array(TRY_CAPACITY);
  private readonly nextWaiter = new Int32Array(TRY_CAPACITY);
  private readonly heldBy = new Uint16Array(NETWORK_SLOTS);
  /** For each question: its last request and the number of requests; the hash, and the next question in its bucket. */
  private readonly lastWaiter = new Int32Array(TRY_CAPACITY);
  private readonly waiters = new Uint16Array(TRY_CAPACITY);
  private readonly hash = new Int32Array(TRY_CAPACITY);
  private readonly nextInBucket = new Int32Array(TRY_CAPACITY);
  private readonly buckets = new Int32Array(TRY_CAPACITY).fill(NONE);

  constructor() {
    for (let i = 0; i < TRY_CAPACITY; i++) this.free[i] = TRY_CAPACITY - 1 - i;
  }

  /** Whether one more request of a network may wait. */
  admits(network: number): boolean {
    return isWithinShare(this.heldBy[network]!, this.size, TRY_CAPACITY);
  }

  /** The question in flight that is identical to the question of `query`; -1 = there is none. */
  find(query: Query): number {
    const hash = hashOf(query);
    for (
      let question = this.buckets[bucketOf(hash)]!;
      question !== NONE;
      question = this.nextInBucket[question]!
    )
      if (this.hash[question] === hash && this.isSame(question * MissRecord.SIZE, query)) return question;
    return NONE;
  }

  /**
   * Opens a question with its first request, after `admits` has returned true; `take` describes the other parameters.
   */
  open(query: Query, batch: UdpBatch, slot: number, version: number, network: number): number {
    const question = this.take(query, batch, slot, version, network);
    const hash = hashOf(query);
    const bucket = bucketOf(hash);
    this.hash[question] = hash;
    this.nextInBucket[question] = this.buckets[bucket]!;
    this.buckets[bucket] = question;
    this.lastWaiter[question] = question;
    this.waiters[question] = 1;
    return question;
  }

  /** Whether one more request may wait for a question in flight. */
  mayJoin(question: number): boolean {
    return this.waiters[question]! < MAX_WAITERS;
  }

  /** Adds a request that `take` has copied to a question in flight. */
  join(question: number, request: number): void {
    this.nextWaiter[this.lastWaiter[question]!] = request;
    this.lastWaiter[question] = request;
    this.waiters[question]!++;
  }

  /** The next request with the same question; -1 = there is none. */
  after(request: number): number {
    return this.nextWaiter[request]!;
  }

  networkOf(request: number): number {
    return this.network[request]!;
  }

  /** Ends a question and frees its requests. */
  close(question: number): void {
    const bucket = bucketOf(this.hash[question]!);
    if (this.buckets[bucket] === question) this.buckets[bucket] = this.nextInBucket[question]!;
    else {
      let before = this.buckets[bucket]!;
      while (this.nextInBucket[before] !== question) before = this.nextInBucket[before]!;
      this.nextInBucket[before] = this.nextInBucket[question]!;
    }
    for (let request = question; request !== NONE;) {
      const next = this.nextWaiter[request]!;
      this.heldBy[this.network[request]!]!--;
      this.free[TRY_CAPACITY - this.size] = request;
      this.size--;
      request = next;
    }
  }

  /** Copies a request and returns its index (see `MissRecords`); call `open` or `join` with this index. */
  take(query: Query, batch: UdpBatch, slot: number, version: number, network: number): number {
    this.size++;
    const request = this.free[TRY_CAPACITY - this.size]!;
    this.records.write(request * MissRecord.SIZE, query, batch, slot, version);
    this.network[request] = network;
    this.heldBy[network]!++;
    this.nextWaiter[request] = NONE;
    return request;
  }

  /** Compares the fields that identify a question. */
  private isSame(at: number, query: Query): boolean {
    const { records } = this;
    const { bytes } = records;
    if (records.messageLength(at) !== query.questionEnd) return false;
    if (records.has(at, MissFlags.DNSSEC_OK) !== query.dnssecOk) return false;
    const message = at + MissRecord.MESSAGE;
    const isChecked = (bytes[message + Header.FLAGS_LOW]! & FlagsLow.CD) !== 0;
    if (isChecked !== query.checkingDisabled) return false;
    const tail = message + query.questionEnd - QUESTION_TAIL_SIZE;
    if (readU16(bytes, tail) !== query.qtype || readU16(bytes, tail + 2) !== query.qclass) return false;
    for (let i = 0; i < query.qnameLength; i++)
      if (FOLD[bytes[message + Header.SIZE + i]!] !== query.qname[i]) return false;
    return true;
  }
}

function hashOf({ hashLow, qtype, dnssecOk }: Query): number {
  return Math.imul(hashLow[0]! ^ (qtype << 1) ^ (dnssecOk ? 1 : 0), 0x9e3779b1);
}

function bucketOf(hash: number): number {
  return (hash >>> 16) & (TRY_CAPACITY - 1);
}
