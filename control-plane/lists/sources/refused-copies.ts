/**
 * Copies of lists that could not be read or compiled within the time and memory limits. They are recorded, so that the
 * same content is not tried again at every refresh. A record expires, because the machine may only have been busy, and
 * is removed when a user requests a refresh.
 */
import type { Clock } from '../../../shared/clock.ts';

/** Time for which a copy stays rejected. */
const REFUSED_MS = 86_400_000;

interface Refusal {
  readonly inputKey: string;
  readonly reason: string;
  readonly atMs: number;
}

/** The last rejected copy of each source. */
export class RefusedCopies {
  private readonly clock: Pick<Clock, 'monotonicMs'>;
  private readonly refusals = new Map<number, Refusal>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.clock = clock;
  }

  /** Records that an input (see `inputKeyOf`) is rejected; replaces the earlier record of the source. */
  add(id: number, inputKey: string, reason: string): void {
    this.refusals.set(id, { inputKey, reason, atMs: this.clock.monotonicMs() });
  }

  /** Reason why this input is rejected; undefined if it is not rejected. */
  reasonFor(id: number, inputKey: string): string | undefined {
    const refusal = this.refusals.get(id);
    if (refusal?.inputKey !== inputKey) return undefined;
    return this.clock.monotonicMs() - refusal.atMs < REFUSED_MS ? refusal.reason : undefined;
  }

  /** Removes the record of a source, so that its copy is tried again. */
  remove(id: number): void {
    this.refusals.delete(id);
  }
}
