/**
 * Checks a new copy of a list before it replaces the previous one: a list that lost most of its rules, grew extremely,
 * or would block names that this network uses, or no longer allow them, is held until a person approves it. The first
 * copy of a source is never held: adding a list means what it blocks.
 */
import type { HeldCopy } from '../../../shared/api/policy/held-copy-api.ts';
import type { Clock } from '../../../shared/clock.ts';

/** What the guard compares, of one copy. */
export interface GuardedCopy {
  readonly rules: number;
  /** Most-asked allowed names that this copy blocks. */
  readonly blocked: readonly string[];
  /** Those that it allows; for allowlists. */
  readonly allowed: readonly string[];
}

/** Names in a reason as text, and in one for programs. */
const SHOWN_NAMES = 5;
const NOTED_NAMES = 20;
/** Number of most-asked allowed names that are checked. */
export const WATCHED_NAMES = 1000;
/** Growth factor at which a list is held, unless it was short. */
const GROWTH = 10;
const SHORT_LIST_RULES = 100;
const DAY_MS = 86_400_000;

/** Why `next` must not replace `before`, and what a person is to know of it; null if it may. */
export function reasonToHold(before: GuardedCopy, next: GuardedCopy): HeldCopy | null {
  const blocked = missingFrom(before.blocked, next.blocked);
  const lost = missingFrom(next.allowed, before.allowed);
  const held = (reason: HeldCopy['reason']): HeldCopy => ({
    reason,
    rules: next.rules,
    rules_in_force: before.rules,
    names: [...blocked, ...lost].slice(0, NOTED_NAMES),
    name_count: blocked.length + lost.length,
  });
  if (next.rules * 2 < before.rules) return held('shrank');
  if (before.rules >= SHORT_LIST_RULES && next.rules >= before.rules * GROWTH) return held('grew');
  if (blocked.length > 0) return held('blocks_names');
  return lost.length === 0 ? null : held('allows_less');
}

/** The reason as text. */
export function holdText({
  reason,
  rules,
  rules_in_force: before,
  names,
  name_count: count,
}: HeldCopy): string {
  const some = names.slice(0, SHOWN_NAMES);
  const more = count > some.length ? ` and ${count - some.length} more` : '';
  const shown = `names that are much asked for here: ${some.join(', ')}${more}`;
  switch (reason) {
    case 'shrank':
      return `held: the list shrank from ${before} to ${rules} rules`;
    case 'grew':
      return `held: the list grew from ${before} to ${rules} rules`;
    case 'blocks_names':
      return `held: it would block ${shown}`;
    case 'allows_less':
      return `held: it would no longer allow ${shown}`;
    case 'undone':
      return 'held: undone by a rollback';
  }
}

/** What is in `names` and not in `known`. */
function missingFrom(known: readonly string[], names: readonly string[]): string[] {
  const set = new Set(known);
  return names.filter((name) => !set.has(name));
}

/** The most-asked allowed names of all nodes, read again after a day. */
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
