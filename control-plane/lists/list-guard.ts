/**
 * Looks at a new copy of a list before it takes the place of the one before: a list that lost most of its
 * rules or became another list by its size, or that would block what this network uses, is held until a
 * person approves it. The first copy of a
 * source is never held: whoever adds a list means what it blocks.
 */
import type { Clock } from '../../shared/clock.ts';

/** What the guard compares, of one copy. */
export interface GuardedCopy {
  readonly rules: number;
  /** Most-asked allowed names that this copy blocks. */
  readonly blocked: readonly string[];
}

/** Names in a reason. */
const SHOWN_NAMES = 5;
/** Most-asked allowed names that are looked at. */
export const WATCHED_NAMES = 1000;
/** Growth that makes another list of one, unless it was a short list. */
const GROWTH = 10;
const SHORT_LIST_RULES = 100;
const DAY_MS = 86_400_000;

/** Why `next` must not simply replace `before`; null where it may. */
export function reasonToHold(before: GuardedCopy, next: GuardedCopy): string | null {
  if (next.rules * 2 < before.rules)
    return `held: the list shrank from ${before.rules} to ${next.rules} rules`;
  if (before.rules >= SHORT_LIST_RULES && next.rules >= before.rules * GROWTH)
    return `held: the list grew from ${before.rules} to ${next.rules} rules`;
  const known = new Set(before.blocked);
  const fresh = next.blocked.filter((name) => !known.has(name));
  if (fresh.length === 0) return null;
  const more = fresh.length > SHOWN_NAMES ? ` and ${fresh.length - SHOWN_NAMES} more` : '';
  return `held: it would block names that are much asked for here: ${fresh.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}

/** The most-asked allowed names of this node, read again after a day. */
export class MostAskedNames {
  private readonly read: () => Promise<readonly string[]>;
  private readonly clock: Clock;
  private known: { readonly names: readonly string[]; readonly readAtMs: number } | undefined;

  constructor(read: () => Promise<readonly string[]>, clock: Clock) {
    this.read = read;
    this.clock = clock;
  }

  /** Most asked first. */
  async names(): Promise<readonly string[]> {
    const nowMs = this.clock.nowMs();
    const { known } = this;
    // A short log is read quickly, and what is missing from it today matters.
    if (known?.names.length === WATCHED_NAMES && nowMs - known.readAtMs < DAY_MS) return known.names;
    const names = await this.read();
    this.known = { names, readAtMs: nowMs };
    return names;
  }
}
