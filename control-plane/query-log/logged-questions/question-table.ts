/**
 * Distinct questions of the query log with their counts. A question is a tuple of four numbers; adding one allocates
 * nothing. A search gives up after a few steps, so a question may have two entries; it is then evaluated twice, which
 * is harmless.
 */
import { randomInt } from 'node:crypto';
import { QUESTION_WORDS, QuestionWord } from '../../../shared/threads/simulation-messages.ts';

const SMALL = 4096;
const MAX_STEPS = 16;
const HASH_FACTOR = 0x9e3779b1 | 0;
const OTHER_FACTOR = 0x85ebca77 | 0;

/** Table of distinct questions. */
export class QuestionTable {
  count = 0;
  /** The questions, `QUESTION_WORDS` words for each. */
  words = new Int32Array(SMALL * QUESTION_WORDS);
  /** Hash table of indexes plus one. Its size is a power of two, twice the number of entries that fit. */
  private slots = new Int32Array(2 * SMALL);
  private readonly seed = randomInt(0x1_0000_0000) | 0;

  /** Counts one query with this question. */
  add(name: number, type: number, client: number, answer: number): void {
    const { slots, words } = this;
    const mask = slots.length - 1;
    let slot = this.hash(name, type, client, answer) & mask;
    for (let step = 0; step < MAX_STEPS; step++) {
      const place = slots[slot]! - 1;
      if (place < 0) {
        slots[slot] = this.count + 1;
        break;
      }
      const at = place * QUESTION_WORDS;
      const isSame =
        words[at] === name && words[at + 1] === type && words[at + 2] === client && words[at + 3] === answer;
      if (isSame) {
        words[at + QuestionWord.COUNT]!++;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.append(name, type, client, answer);
  }

  /** A copy in shared memory. */
  shared(): SharedArrayBuffer {
    const used = this.words.subarray(0, this.count * QUESTION_WORDS);
    const copy = new SharedArrayBuffer(used.byteLength);
    new Int32Array(copy).set(used);
    return copy;
  }

  private append(name: number, type: number, client: number, answer: number): void {
    this.words.set([name, type, client, answer, 1], this.count * QUESTION_WORDS);
    this.count++;
    if (this.count * 2 === this.slots.length) this.grow();
  }

  private hash(name: number, type: number, client: number, answer: number): number {
    let lane = Math.imul(name ^ this.seed, HASH_FACTOR);
    lane = Math.imul(lane ^ (lane >>> 15) ^ client, OTHER_FACTOR);
    lane = Math.imul(lane ^ (lane >>> 15) ^ type, HASH_FACTOR);
    lane = Math.imul(lane ^ (lane >>> 15) ^ answer, OTHER_FACTOR);
    return lane ^ (lane >>> 15);
  }

  private grow(): void {
    const { words, count } = this;
    this.words = new Int32Array(count * 2 * QUESTION_WORDS);
    this.words.set(words);
    this.slots = new Int32Array(count * 4);
    const mask = this.slots.length - 1;
    for (let place = 0, at = 0; place < count; place++, at += QUESTION_WORDS) {
      let slot = this.hash(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!) & mask;
      let step = 0;
      for (; step < MAX_STEPS && this.slots[slot] !== 0; step++) slot = (slot + 1) & mask;
      if (step < MAX_STEPS) this.slots[slot] = place + 1;
    }
  }
}
