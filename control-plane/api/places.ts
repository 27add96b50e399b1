/** Limits concurrent long answers, in total and per caller, so that one caller cannot use up the total. */
import { tooMany } from './api-error.ts';
import type { Caller } from './caller.ts';

/** Maximum number of concurrent answers. */
export interface PlaceLimits {
  readonly total: number;
  readonly perCaller: number;
}

const RETRY_SECS = 10;

/**
 * The name of the user or token that a long answer counts for. Null if callers cannot be distinguished: without
 * authentication, and over the local socket.
 */
export function holderOf(caller: Caller | null): string | null {
  return caller === null || (caller.sessionId === null && caller.tokenId === null) ? null : caller.username;
}

/** Number of concurrent answers by caller. */
export class Places {
  private readonly what: string;
  private readonly limits: PlaceLimits;
  private readonly held = new Map<string, number>();
  private total = 0;

  /** `what` names the answers in messages, such as `streams`. */
  constructor(what: string, limits: PlaceLimits) {
    this.what = what;
    this.limits = limits;
  }

  /** Refuses another answer if the total limit, or the one of the holder, is reached. @throws {ApiError} 429 */
  admit(holder: string | null): void {
    const { total, perCaller } = this.limits;
    const busy = (limit: number, whose: string): Error =>
      tooMany('busy', `${limit} ${this.what}${whose} are already open`, RETRY_SECS);
    if (this.total >= total) throw busy(total, '');
    if (holder !== null && (this.held.get(holder) ?? 0) >= perCaller) throw busy(perCaller, ` of ${holder}`);
  }

  /** Counts an answer; call the result when the answer ends. @throws {ApiError} 429 */
  take(holder: string | null): () => void {
    this.admit(holder);
    this.add(holder, 1);
    return () => this.add(holder, -1);
  }

  private add(holder: string | null, change: 1 | -1): void {
    this.total += change;
    if (holder === null) return;
    const count = (this.held.get(holder) ?? 0) + change;
    if (count === 0) this.held.delete(holder);
    else this.held.set(holder, count);
  }
}
