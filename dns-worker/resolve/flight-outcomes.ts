/** Passes outcomes of questions to the threads that wait for them (`shared/memory/outcome-rings.ts`). */
import { deserialize, serialize } from 'node:v8';
import { OutcomeDescriptor, OutcomeRing, outcomeRing } from '../../shared/memory/outcome-rings.ts';
import { claimWorker } from '../../shared/memory/claim-table.ts';
import type { Claim } from './question-claims.ts';
import type { Resolution } from './resolution.ts';

/** The outcome of a flight, as passed to other threads. */
interface PassedOutcome {
  /**
   * Identifies the question (`questionKey`): if the bucket is full, a thread may wait for the claim of another
   * question.
   */
  readonly key: string;
  /** Version of the settings: another version may use other servers. */
  readonly settingsVersion: number;
  readonly resolution: Resolution;
}

export interface OutcomeParts {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly settingsVersion: number;
}

/** Writes the outcomes of one resolve thread, and reads those of other threads. */
export class FlightOutcomes {
  private readonly parts: OutcomeParts;

  constructor(parts: OutcomeParts) {
    this.parts = parts;
  }

  /**
   * Writes the outcome of a question that other threads wait for. If the outcome does not fit, these threads resolve
   * the question themselves.
   */
  put(claim: Claim, key: string, resolution: Resolution): void {
    const { memory, worker, settingsVersion } = this.parts;
    const outcome: PassedOutcome = { key, settingsVersion, resolution };
    const bytes = serialize(outcome);
    if (bytes.length > OutcomeRing.DATA_BYTES / 2) return;
    const { words, data } = outcomeRing(memory, worker);
    const start = startOf(words[OutcomeRing.END_WORD]! >>> 0, bytes.length);
    // Store the new end first, so that readers can detect that the data is being overwritten.
    Atomics.store(words, OutcomeRing.END_WORD, (start + bytes.length) | 0);
    data.set(bytes, start % OutcomeRing.DATA_BYTES);
    const number = words[OutcomeRing.NEXT_WORD]! >>> 0;
    const at = descriptorAt(number);
    words[at + OutcomeDescriptor.CLAIM_WORD] = claim.value;
    words[at + OutcomeDescriptor.PLACE_WORD] = claim.word;
    words[at + OutcomeDescriptor.START_WORD] = start | 0;
    words[at + OutcomeDescriptor.LENGTH_WORD] = bytes.length;
    Atomics.store(words, OutcomeRing.NEXT_WORD, (number + 1) | 0);
  }

  /** The outcome of a question whose claim has ended; null = not written, or overwritten. */
  find(claim: Claim, key: string): Resolution | null {
    const { memory, settingsVersion } = this.parts;
    const { words, data } = outcomeRing(memory, claimWorker(claim.value));
    const next = Atomics.load(words, OutcomeRing.NEXT_WORD) >>> 0;
    for (let back = 1; back <= OutcomeRing.DESCRIPTORS; back++) {
      const at = descriptorAt(next - back);
      if (words[at + OutcomeDescriptor.CLAIM_WORD] !== claim.value) continue;
      if (words[at + OutcomeDescriptor.PLACE_WORD] !== claim.word) continue;
      const start = words[at + OutcomeDescriptor.START_WORD]! >>> 0;
      const length = words[at + OutcomeDescriptor.LENGTH_WORD]! >>> 0;
      const from = start % OutcomeRing.DATA_BYTES;
      const bytes = data.slice(from, from + length);
      // Check the end after the copy: the writer changes both words before it overwrites data.
      const end = Atomics.load(words, OutcomeRing.END_WORD) >>> 0;
      const written = (Atomics.load(words, OutcomeRing.NEXT_WORD) - next) >>> 0;
      if ((end - start) >>> 0 > OutcomeRing.DATA_BYTES || written + back >= OutcomeRing.DESCRIPTORS)
        return null;
      const outcome = deserialize(bytes) as PassedOutcome;
      return outcome.key === key && outcome.settingsVersion === settingsVersion ? outcome.resolution : null;
    }
    return null;
  }
}

/** Start of a contiguous piece of `length` bytes. */
function startOf(end: number, length: number): number {
  const used = end % OutcomeRing.DATA_BYTES;
  const start = used + length > OutcomeRing.DATA_BYTES ? end + OutcomeRing.DATA_BYTES - used : end;
  return start >>> 0;
}

function descriptorAt(number: number): number {
  const { HEAD_WORDS, DESCRIPTORS } = OutcomeRing;
  return HEAD_WORDS + ((number >>> 0) % DESCRIPTORS) * OutcomeDescriptor.WORDS;
}
