/**
 * One thread's claims to questions, which ensure that only one thread sends a question; shared by all resolve threads
 * of the node (`shared/memory/claim-table.ts`).
 */
import {
  type ClaimAreaCode,
  ClaimBucket,
  ClaimTable,
  NO_CLAIM,
  WAITED_FOR,
  claimAgeSecs,
  claimHolder,
  claimOf,
  free,
} from '../../shared/memory/claim-table.ts';
import type { Clock } from '../../shared/clock.ts';
import { type Question, identityFlags, identityEcs } from './response/question.ts';

/** The claim to a question. */
export interface Claim {
  readonly isMine: boolean;
  /** The value of the claim in the table, and its word; NO_CLAIM = not in the table. */
  readonly value: number;
  readonly word: number;
}

export interface ClaimParts {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly clock: Clock;
  /** Maximum time of a question in flight, in milliseconds: an older claim was never released. */
  readonly longestMs: number;
}

const HASH_FACTOR = 0x9e3779b1 | 0;
const TAG_FACTOR = 0x85ebca6b | 0;
/** Seconds for which a thread may be delayed between the end of a question and the release of its claim. */
const SLACK_SECS = 2;
/**
 * Limits of the wait for a lock: a bucket is locked for less than a microsecond, unless the owner is interrupted or
 * dies.
 */
const LOCK_TRIES = 20;
const LOCK_WAIT_MS = 1;
/** Without the lock, the thread sends the question: two queries are better than none. */
const WITHOUT_LOCK: Claim = { isMine: true, value: NO_CLAIM, word: 0 };

/** Claims of one area (`ClaimArea`). */
export class QuestionClaims {
  private readonly area: ClaimAreaCode;
  private readonly words: Int32Array;
  private readonly worker: number;
  private readonly clock: Clock;
  private readonly overdueSecs: number;
  /** Bucket of the current question. */
  private bucket = 0;
  private hash = 0;
  private tag = 0;

  constructor({ memory, worker, clock, longestMs }: ClaimParts, area: ClaimAreaCode) {
    this.area = area;
    this.words = new Int32Array(memory);
    this.worker = worker;
    this.clock = clock;
    this.overdueSecs = Math.ceil(longestMs / 1000) + SLACK_SECS;
  }

  /** Claims a question for a cache partition, unless a thread (including this thread) has already claimed it. */
  claim(partition: number, question: Question): Claim {
    const { words, worker } = this;
    this.find(partition, question);
    const lock = this.bucket + ClaimBucket.LOCK_AT;
    if (!this.lock(lock)) return WITHOUT_LOCK;
    const nowSecs = Math.floor(this.clock.monotonicMs() / 1000);
    const slot = this.slotFor(nowSecs);
    const word = this.bucket + ClaimBucket.CLAIM_AT + slot;
    const holder = Atomics.load(words, word);
    if (holder !== NO_CLAIM && !this.isOverdue(holder, nowSecs)) {
      // The exchange fails if the owner has just finished; then the thread need not wait.
      Atomics.compareExchange(words, word, holder, holder | WAITED_FOR);
      free(words, lock, claimHolder(worker));
      return { isMine: false, value: holder | WAITED_FOR, word };
    }
    const value = claimOf(worker, nowSecs);
    words[this.bucket + ClaimBucket.TAG_AT + slot] = this.tag;
    Atomics.store(words, word, value);
    if (holder !== NO_CLAIM) Atomics.notify(words, word);
    free(words, lock, claimHolder(worker));
    return { isMine: true, value, word };
  }

  /**
   * Releases a claim of this thread; call it once. `passOutcome` is called first if another thread waits for the claim.
   */
  release({ value, word }: Claim, passOutcome: (waitedFor: Claim) => void): void {
    if (value === NO_CLAIM || free(this.words, word, value)) return;
    const waitedFor = { isMine: true, value: value | WAITED_FOR, word };
    // If the value differs, the claim was overdue, and another thread has taken over the question.
    if (Atomics.load(this.words, word) !== waitedFor.value) return;
    try {
      passOutcome(waitedFor);
    } finally {
      free(this.words, word, waitedFor.value);
    }
  }

  /** Resolves when the owner of the claim has finished, or after this many milliseconds. */
  async ended({ value, word }: Claim, timeoutMs: number): Promise<void> {
    const wait = Atomics.waitAsync(this.words, word, value, timeoutMs);
    if (wait.async) await wait.value;
  }

  /**
   * The slot in which the question is claimed, or a free slot; if there is neither, the first slot, whose claim the
   * thread then waits for.
   */
  private slotFor(nowSecs: number): number {
    const { words, bucket } = this;
    let found = -1;
    for (let slot = 0; slot < ClaimBucket.SLOTS; slot++) {
      const claim = Atomics.load(words, bucket + ClaimBucket.CLAIM_AT + slot);
      const isFree = claim === NO_CLAIM || this.isOverdue(claim, nowSecs);
      if (isFree) found = found < 0 ? slot : found;
      else if (words[bucket + ClaimBucket.TAG_AT + slot] === this.tag) return slot;
    }
    return found < 0 ? 0 : found;
  }

  /** A claim that is older than the maximum time of a question was never released. */
  private isOverdue(claim: number, nowSecs: number): boolean {
    return claimAgeSecs(claim, nowSecs) > this.overdueSecs;
  }

  private lock(word: number): boolean {
    const own = claimHolder(this.worker);
    for (let tries = 0; tries < LOCK_TRIES; tries++) {
      const holder = Atomics.compareExchange(this.words, word, 0, own);
      if (holder === 0) return true;
      Atomics.wait(this.words, word, holder, LOCK_WAIT_MS);
    }
    return false;
  }

  /** Hashes the fields that identify the question (as `questionKey` does), and the partition of the cache. */
  private find(partition: number, question: Question): void {
    const { qname, qtype, qclass } = question;
    this.hash = this.words[ClaimTable.SEED_WORD]!;
    this.tag = ~this.hash;
    for (let i = 0; i < qname.length; i++) this.mix(qname[i]!);
    this.mix(qtype | (qclass << 16));
    this.mix(identityFlags(question) | (partition << 2));
    const ecs = identityEcs(question);
    for (let i = 0; ecs !== null && i < ecs.length; i++) this.mix(ecs[i]!);
    const bucket = this.area * ClaimTable.BUCKETS + (this.hash & (ClaimTable.BUCKETS - 1));
    this.bucket = ClaimTable.HEAD_WORDS + bucket * ClaimBucket.WORDS;
  }

  private mix(value: number): void {
    const hash = Math.imul(this.hash ^ value, HASH_FACTOR);
    this.hash = hash ^ (hash >>> 15);
    const tag = Math.imul(this.tag ^ value, TAG_FACTOR);
    this.tag = tag ^ (tag >>> 13);
  }
}
