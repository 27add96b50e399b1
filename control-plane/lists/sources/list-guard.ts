/**
 * Checks a new copy of a list before it replaces the previous one: a list that lost most of its rules, grew extremely,
 * or would block names that this network uses, or no longer allow them, is held until a person approves it. The first
 * copy of a source is never held: adding a list means what it blocks.
 */
import type { Clock } from '../../../shared/clock.ts';

/** What the guard compares, of one copy. */
export interface GuardedCopy {
  readonly rules: number;
  /** Most-asked allowed names that this copy blocks. */
  readonly blocked: readonly string[];
  /** Those that it allows; for allowlists. */
  readonly allowed: readonly string[];
}

/** Names in a reason. */
const SHOWN_NAMES = 5;
/** Number of most-asked allowed names that are checked. */
export const WATCHED_NAMES = 1000;
/** Growth factor at which a list is held, unless it was short. */
const GROWTH = 10;
const SHORT_LIST_RULES = 100;
const DAY_MS = 86_400_000;

/** Why `next` must not replace `before`; null if it may. */
export function reasonToHold(before: GuardedCopy, next: GuardedCopy): string | null {
  if (next.rules * 2 < before.rules)
    return `held: the list shrank from ${before.rules} to ${next.rules} rules`;
  if (before.rules >= SHORT_LIST_RULES && next.rules >= before.rules * GROWTH)
    return `held: the list grew from ${before.rules} to ${next.rules} rules`;
  const blocked = missingFrom(before.blocked, next.blocked);
  if (blocked.length > 0)
    return `held: it would block names that are much asked for here: ${someOf(blocked)}`;
  const lost = missingFrom(next.allowed, before.allowed);
  return lost.length === 0
    ? null
    : `held: it would no longer allow names that are much asked for here: ${someOf(lost)}`;
}

/** What is in `names` and not in `known`. */
function missingFrom(known: readonly string[], names: readonly string[]): string[] {
  const set = new Set(known);
  return names.filter((name) => !set.has(name));
}

function someOf(names: readonly string[]): string {
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : '';
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more}`;
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
    // A short log is read quickly, and missing names matter.
    if (known?.names.length === WATCHED_NAMES && nowMs - known.readAtMs < DAY_MS) return known.names;
    const names = await this.read();
    this.known = { names, readAtMs: nowMs };
    return names;
  }
}
