/**
 * Checks a copy of a list before it takes effect. An update is held until a user approves it if the list has lost most
 * of its rules, has grown extremely, would block names that this network uses, or would no longer allow such names. An
 * update or a new list is also held if one of its rules would block every name under a condition, or if its rules would
 * block too many addresses. A new list may block names that this network uses, but not most of them.
 */
import type { HeldCopy } from '../../../shared/api/policy/held-copy-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { LIST_READING } from '../../policy/compile/parse/list-statistics.ts';
import type { WideRule } from '../../policy/compile/table/watched-names.ts';
import type { CheckFindings } from './source-store.ts';

/** Data about a copy that the guard compares. */
export interface GuardedCopy {
  readonly rules: number;
  /** Of the names that this network queries most and that are allowed: those that this copy blocks. */
  readonly blocked: readonly string[];
  /** Of the same names: those that this copy allows, if it is an allowlist. */
  readonly allowed: readonly string[];
  readonly forEveryName: readonly WideRule[];
  /** Share of the address space that the rules of the copy cover, 0 to 1. */
  readonly addressShare: number;
}

/** Maximum number of names in the text of a reason, and in its structured form. */
const SHOWN_NAMES = 5;
const NOTED_NAMES = 20;
/** Maximum number of wide rules recorded per copy; a copy with more is held again after an upgrade. */
const MAX_WIDE_RULES = 200;
/** Number of most frequently queried allowed names that are checked. */
export const WATCHED_NAMES = 1000;
const WATCHED_DAYS = 7;
/**
 * Maximum number of distinct names of the last day with which a new list is checked, and the minimum number for a
 * meaningful result.
 */
export const DAY_NAMES = 50_000;
const FEWEST_DAY_NAMES = 1000;
/**
 * Every new list is first checked with a sample of this number of names. If at least this share of the sample matches,
 * the list is checked with all names.
 */
const SAMPLED_NAMES = 4096;
const NEARLY_HALF = 0.4;
/** Share of the address space above which a list is held. */
const WIDE_SHARE = 1 / 256;
/** Factor by which the share must grow for a list to be held if it already covered `WIDE_SHARE`. */
const SHARE_GROWTH = 2;
/** Factor of growth of the number of rules at which a list is held, unless it was short. */
const GROWTH = 10;
const SHORT_LIST_RULES = 100;
const DAY_MS = 86_400_000;
const DAY_NAMES_MAX_AGE_MS = 600_000;

/** Replaces the previous copy if a list had none. */
const NOTHING: GuardedCopy = { rules: 0, blocked: [], allowed: [], forEveryName: [], addressShare: 0 };

/** Reason why `next` must not replace `before`, with details for users; null if it may do so. */
export function reasonToHold(before: GuardedCopy, next: GuardedCopy): HeldCopy | null {
  const blocked = missingFrom(before.blocked, next.blocked);
  const lost = missingFrom(next.allowed, before.allowed);
  const held = (reason: HeldCopy['reason']): HeldCopy => heldFor(reason, before, next, [...blocked, ...lost]);
  const tooWide = widening(before, next);
  if (tooWide !== null) return tooWide;
  if (next.rules * 2 < before.rules) return held('shrank');
  if (before.rules >= SHORT_LIST_RULES && next.rules >= before.rules * GROWTH) return held('grew');
  if (blocked.length > 0) return held('blocks_names');
  return lost.length === 0 ? null : held('allows_less');
}

/**
 * Reason to hold the first copy of a source; null if there is none. `dayNames` is the number of names with which it was
 * checked.
 */
export function reasonToHoldFirst(next: GuardedCopy, dayNames: number): HeldCopy | null {
  const matched = [...next.blocked, ...next.allowed];
  if (dayNames >= FEWEST_DAY_NAMES && matched.length * 2 > dayNames)
    return heldFor('most_names', NOTHING, next, matched);
  return widening(NOTHING, next);
}

/**
 * An even sample of the names of the last day: for almost every list, the sample shows that the other names need no
 * check.
 */
export function sampleOf(dayNames: readonly string[]): readonly string[] {
  const step = dayNames.length / SAMPLED_NAMES;
  if (step <= 1) return dayNames;
  return Array.from({ length: SAMPLED_NAMES }, (_, index) => dayNames[Math.floor(index * step)]!);
}

/** Whether a first copy may match more than half of all names, according to the number of matches in a sample. */
export function mayMatchMost({ blocked, allowed }: GuardedCopy, sample: readonly string[]): boolean {
  return blocked.length + allowed.length > sample.length * NEARLY_HALF;
}

/**
 * Reason to hold a stored copy that an earlier release checked: lines that the earlier parser rejected may now be rules
 * for every name. `judged` is the result of the earlier check; null = none.
 */
export function reasonToHoldAgain(judged: CheckFindings | null, next: GuardedCopy): HeldCopy | null {
  const before = (judged?.wide_rules ?? []).map((rule) => ({ line: 0, rule }));
  return widening({ ...NOTHING, forEveryName: before, addressShare: judged?.address_share ?? 0 }, next);
}

/**
 * Reason why this release must not activate a held update that a user approves, because this release interprets the
 * copy differently.
 */
export function reasonToShowAgain(shown: HeldCopy | null, next: GuardedCopy): HeldCopy | null {
  const known = shown?.wide_rules ?? [];
  // If the recorded list of rules has the maximum length, it is incomplete, so all such rules count as known.
  const forEveryName = known.length < NOTED_NAMES ? known : next.forEveryName;
  // If the copy was held because of its share of addresses, only a rounded value was recorded, so the share counts as
  // known.
  const addressShare = shown?.reason === 'addresses' ? next.addressShare : 0;
  return widening({ ...NOTHING, forEveryName, addressShare }, next);
}

/** The result of checking a copy, with which a later release compares its own result. */
export function findingsOf(
  contentKey: string,
  { forEveryName, addressShare }: Pick<GuardedCopy, 'forEveryName' | 'addressShare'>,
): CheckFindings {
  const wide = forEveryName.slice(0, MAX_WIDE_RULES).map(({ rule }) => rule);
  return {
    content_key: contentKey,
    reading: LIST_READING,
    wide_rules: wide,
    address_share: addressShare,
  };
}

/** Whether this release, or a later one, has checked the copy. */
export function isChecked(judged: CheckFindings | null, contentKey: string): boolean {
  return judged?.content_key === contentKey && judged.reading >= LIST_READING;
}

/**
 * Reason to hold a copy that blocks every name for some clients or queries, or too many addresses, if the previous copy
 * did not; null = none.
 */
function widening(before: GuardedCopy, next: GuardedCopy): HeldCopy | null {
  const known = new Set(before.forEveryName.map(({ rule }) => rule));
  const wide = next.forEveryName.filter(({ rule }) => !known.has(rule));
  if (wide.length > 0)
    return { ...heldFor('every_name', before, next, []), wide_rules: wide.slice(0, NOTED_NAMES) };
  if (next.addressShare <= Math.max(WIDE_SHARE, before.addressShare * SHARE_GROWTH)) return null;
  const percent = Math.round(next.addressShare * 10_000) / 100;
  return { ...heldFor('addresses', before, next, []), address_percent: percent };
}

function heldFor(
  reason: HeldCopy['reason'],
  before: GuardedCopy,
  next: GuardedCopy,
  names: readonly string[],
): HeldCopy {
  return {
    reason,
    rules: next.rules,
    rules_in_force: before.rules,
    names: names.slice(0, NOTED_NAMES),
    name_count: names.length,
  };
}

/** The reason as text. */
export function holdText(held: HeldCopy): string {
  const { reason, rules, rules_in_force: before, names, name_count: count } = held;
  const some = names.slice(0, SHOWN_NAMES);
  const more = count > some.length ? ` and ${count - some.length} more` : '';
  const shown = `frequently queried names: ${some.join(', ')}${more}`;
  const [wide] = held.wide_rules ?? [];
  switch (reason) {
    case 'shrank':
      return `held: the list shrank from ${before} to ${rules} rules`;
    case 'grew':
      return `held: the list grew from ${before} to ${rules} rules`;
    case 'blocks_names':
      return `held: it would block ${shown}`;
    case 'allows_less':
      return `held: it would no longer allow ${shown}`;
    case 'every_name':
      return `held: line ${wide?.line} applies to every name: ${wide?.rule}`;
    case 'addresses':
      return `held: its address rules cover ${held.address_percent} % of all addresses`;
    case 'most_names':
      return `held: it matches ${count} names of the last day, more than half: ${some.join(', ')}${more}`;
    case 'undone':
      return 'held: undone by a rollback';
  }
}

/** Those of `names` that are not in `known`. */
function missingFrom(known: readonly string[], names: readonly string[]): string[] {
  const set = new Set(known);
  return names.filter((name) => !set.has(name));
}

/** Reads at most `limit` names of the last days, the most frequently queried first. */
export type ReadNames = (days: number, limit: number) => Promise<readonly string[]>;

interface KnownNames {
  readonly names: readonly string[];
  readonly readAtMs: number;
}

/**
 * The allowed names of all nodes: the most frequently queried names, which are read again after a day, and the names of
 * the last day.
 */
export class MostAskedNames {
  private readonly read: ReadNames;
  private readonly clock: Clock;
  private known: KnownNames | undefined;
  private knownOfDay: KnownNames | undefined;

  constructor(read: ReadNames, clock: Clock) {
    this.read = read;
    this.clock = clock;
  }

  /** The most frequently queried names, in descending order. */
  async names(): Promise<readonly string[]> {
    const nowMs = this.clock.nowMs();
    const { known } = this;
    // If there are fewer names, the log is read again each time: it is short, and its newest names matter.
    if (known?.names.length === WATCHED_NAMES && nowMs - known.readAtMs < DAY_MS) return known.names;
    const names = await this.read(WATCHED_DAYS, WATCHED_NAMES);
    this.known = { names, readAtMs: nowMs };
    return names;
  }

  /** The distinct names of the last day; lists that are added together are checked with the same names. */
  async ofLastDay(): Promise<readonly string[]> {
    const nowMs = this.clock.nowMs();
    const known = this.knownOfDay;
    if (known !== undefined && nowMs - known.readAtMs < DAY_NAMES_MAX_AGE_MS) return known.names;
    const names = await this.read(1, DAY_NAMES);
    this.knownOfDay = { names, readAtMs: nowMs };
    return names;
  }
}
