/**
 * Copies of lists that could not be read or compiled within the time and memory limits. They are recorded so that the
 * same content is not retried at every refresh. Records expire, because the machine may have been busy, and a user's
 * request to retry removes them.
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

  /** Rejects an input, see `inputKeyOf`, in place of an earlier one. */
  add(id: number, inputKey: string, reason: string): void {
    this.refusals.set(id, { inputKey, reason, atMs: this.clock.monotonicMs() });
  }

  /** Reason why this input is rejected; undefined if it is not. */
  reasonFor(id: number, inputKey: string): string | undefined {
    const refusal = this.refusals.get(id);
    if (refusal?.inputKey !== inputKey) return undefined;
    return this.clock.monotonicMs() - refusal.atMs < REFUSED_MS ? refusal.reason : undefined;
  }

  /** Allows a source to be retried. */
  remove(id: number): void {
    this.refusals.delete(id);
  }
}
