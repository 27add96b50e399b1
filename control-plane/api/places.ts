/**
 * Limits the number of concurrent long responses, in total and per caller, so that one caller cannot use all of them.
 */
import { tooMany } from './api-error.ts';
import type { Caller } from './caller.ts';

/** Maximum numbers of concurrent responses. */
export interface PlaceLimits {
  readonly total: number;
  readonly perCaller: number;
}

const RETRY_SECS = 10;

/**
 * The name of the user or token for which a long response counts. Null if callers cannot be distinguished, because
 * authentication is disabled or the request came over the local socket.
 */
export function holderOf(caller: Caller | null): string | null {
  return caller === null || (caller.sessionId === null && caller.tokenId === null) ? null : caller.username;
}

/** Counts concurrent responses by caller. */
export class Places {
  private readonly what: string;
  private readonly limits: PlaceLimits;
  private readonly held = new Map<string, number>();
  private total = 0;

  /** `what` is a name of the responses for messages, such as `streams`. */
  constructor(what: string, limits: PlaceLimits) {
    this.what = what;
    this.limits = limits;
  }

  /**
   * Checks whether another response is allowed. The total limit and the limit of the holder apply. @throws {ApiError}
   * 429
   */
  admit(holder: string | null): void {
    const { total, perCaller } = this.limits;
    const busy = (limit: number, whose: string): Error =>
      tooMany('busy', `${limit} ${this.what}${whose} are already open`, RETRY_SECS);
    if (this.total >= total) throw busy(total, '');
    if (holder !== null && (this.held.get(holder) ?? 0) >= perCaller) throw busy(perCaller, ` of ${holder}`);
  }

  /** Counts a response; returns a function that must be called when the response ends. @throws {ApiError} 429 */
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
