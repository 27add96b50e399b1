/** One thread's hold on questions that all resolve threads of the node share (`shared/memory/claim-table.ts`). */
import {
  type ClaimAreaCode,
  ClaimBucket,
  ClaimTable,
  NO_CLAIM,
  claimAgeSecs,
  claimHolder,
  claimOf,
  free,
} from '../../shared/memory/claim-table.ts';
import type { Clock } from '../../shared/clock.ts';
import { type Question, questionKey } from './response/question.ts';

/** Lets go of a question; to be called once. */
export type Release = () => void;

/** Whose a question is now. */
export type ClaimOutcome =
  | { readonly isMine: true; readonly release: Release }
  /** `ended` resolves when its holder is through, or after so many milliseconds. */
  | { readonly isMine: false; ended(timeoutMs: number): Promise<void> };

/** What claims are made with. */
export interface ClaimParts {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly clock: Clock;
  /** Longest time for which a question is under way, milliseconds: a claim held for longer was forgotten. */
  readonly longestMs: number;
}

const HASH_FACTOR = 0x9e3779b1 | 0;
const TAG_FACTOR = 0x85ebca6b | 0;
/** A thread may stand still for a while between the end of a question and that of its claim, seconds. */
const SLACK_SECS = 2;
/** A bucket is locked for less than a microsecond, unless its thread is interrupted or has died just then. */
const LOCK_TRIES = 20;
const LOCK_WAIT_MS = 1;

/** What a question is claimed under: itself and the part of the cache that its answer belongs to. */
export function claimKey(partition: number, question: Question): string {
  return String.fromCharCode(partition) + questionKey(question);
}

/** Claims of one area. */
export class QuestionClaims {
  readonly #parts: ClaimParts;
  readonly #area: ClaimAreaCode;
  readonly #words: Int32Array;
  readonly #overdueSecs: number;
  /** Of the key at work. */
  #bucket = 0;
  #tag = 0;

  constructor(parts: ClaimParts, area: ClaimAreaCode) {
    this.#parts = parts;
    this.#area = area;
    this.#words = new Int32Array(parts.memory);
    this.#overdueSecs = Math.ceil(parts.longestMs / 1000) + SLACK_SECS;
  }

  /** Claims the question with this key (`claimKey`), unless some thread, or this one, has it under way. */
  claim(key: string): ClaimOutcome {
    const words = this.#words;
    this.#find(key);
    const lock = this.#bucket + ClaimBucket.LOCK_AT;
    // Better two at once than none.
    if (!this.#lock(lock)) return { isMine: true, release: () => undefined };
    const nowSecs = Math.floor(this.#parts.clock.monotonicMs() / 1000);
    const slot = this.#slotFor(nowSecs);
    const word = this.#bucket + ClaimBucket.CLAIM_AT + slot;
    const holder = Atomics.load(words, word);
    if (holder !== NO_CLAIM && !this.#isOverdue(holder, nowSecs)) {
      free(words, lock, claimHolder(this.#parts.worker));
      return { isMine: false, ended: (timeoutMs) => this.#ended(word, holder, timeoutMs) };
    }
    const claim = claimOf(this.#parts.worker, nowSecs);
    words[this.#bucket + ClaimBucket.TAG_AT + slot] = this.#tag;
    Atomics.store(words, word, claim);
    if (holder !== NO_CLAIM) Atomics.notify(words, word);
    free(words, lock, claimHolder(this.#parts.worker));
    return { isMine: true, release: () => free(words, word, claim) };
  }

  /** The slot of the question where it is claimed, else one that is free, else the first: that is waited for. */
  #slotFor(nowSecs: number): number {
    const words = this.#words;
    const bucket = this.#bucket;
    let found = -1;
    for (let slot = 0; slot < ClaimBucket.SLOTS; slot++) {
      const claim = Atomics.load(words, bucket + ClaimBucket.CLAIM_AT + slot);
      const isFree = claim === NO_CLAIM || this.#isOverdue(claim, nowSecs);
      if (isFree) found = found < 0 ? slot : found;
      else if (words[bucket + ClaimBucket.TAG_AT + slot] === this.#tag) return slot;
    }
    return found < 0 ? 0 : found;
  }

  /** A claim that outlives every question was never released. */
  #isOverdue(claim: number, nowSecs: number): boolean {
    return claimAgeSecs(claim, nowSecs) > this.#overdueSecs;
  }

  #lock(word: number): boolean {
    const own = claimHolder(this.#parts.worker);
    for (let tries = 0; tries < LOCK_TRIES; tries++) {
      const holder = Atomics.compareExchange(this.#words, word, 0, own);
      if (holder === 0) return true;
      Atomics.wait(this.#words, word, holder, LOCK_WAIT_MS);
    }
    return false;
  }

  async #ended(word: number, holder: number, timeoutMs: number): Promise<void> {
    const wait = Atomics.waitAsync(this.#words, word, holder, timeoutMs);
    if (wait.async) await wait.value;
  }

  #find(key: string): void {
    let hash = this.#words[ClaimTable.SEED_WORD]!;
    let tag = ~hash;
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i);
      hash = Math.imul(hash ^ code, HASH_FACTOR);
      hash ^= hash >>> 15;
      tag = Math.imul(tag ^ code, TAG_FACTOR);
      tag ^= tag >>> 13;
    }
    const bucket = this.#area * ClaimTable.BUCKETS + (hash & (ClaimTable.BUCKETS - 1));
    this.#bucket = ClaimTable.HEAD_WORDS + bucket * ClaimBucket.WORDS;
    this.#tag = tag;
  }
}
