/**
 * Caches rule matches, by name, policy class and snapshot. Each thread has one. Most queries are for few names; a hit
 * costs one cache line instead of a walk over a table that is larger than the CPU caches. The four entries of a line
 * are a set; 64 bits of hash confirm a hit, and a newer snapshot invalidates all entries.
 */
import type { RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';

/** Number of sets, a power of two: 4 MiB of memory, which is allocated as it is used. */
const SETS = 65_536;
const SET_SHIFT = 4;
const SET_WORDS = 1 << SET_SHIFT;
const ENTRY_WORDS = 4;
const LOW_AT = 0;
const HIGH_AT = 1;
const VERSION_AT = 2;
const MATCH_AT = 3;

const CLASS_FACTOR = 0x9e3779b1 | 0;
/** A packed rule: its number plus one in the low bits, then its origin, then the label. */
const ORIGIN_SHIFT = 21;
const ORIGIN_MASK = 0x7;
const LABEL_SHIFT = 24;
const RULE_MASK = 0x1f_ffff;

/**
 * Verdict of policy on a name: one of the constants below, or a packed rule that blocks (`blockedBy`). One i32, so that
 * it needs no object.
 */
export type RuleMatch = number;

/** The memo has no entry for the name. */
export const UNKNOWN = -1;
/** The match depends on more than the name. */
export const CONDITIONAL = -2;
/** Results for names that an allow rule allows: a user's rule, or a list's. */
export const ALLOWED = -3;
export const ALLOWED_BY_LIST = -4;
/** No rule matches the name. */
export const NOT_BLOCKED = 0;

/** Whether an allow rule of any origin allows the name. */
export function isAllowing(match: RuleMatch): boolean {
  return match === ALLOWED || match === ALLOWED_BY_LIST;
}

/** Number of the deciding rule in a match that blocks: an attribute id or the index of a special rule. */
export function ruleOf(match: RuleMatch): number {
  return (match & RULE_MASK) - 1;
}

/** `RuleOrigin` of the deciding rule. */
export function originOf(match: RuleMatch): RuleOriginCode {
  return ((match >>> ORIGIN_SHIFT) & ORIGIN_MASK) as RuleOriginCode;
}

/**
 * Index of the label at which the deciding rule's name starts; for an address, the length of the rule's prefix, or 0 if
 * the rule is for the address itself.
 */
export function labelOf(match: RuleMatch): number {
  return match >>> LABEL_SHIFT;
}

/** A match that blocks. Rule numbers are stored plus one, so that no match is equal to NOT_BLOCKED. */
export function blockedBy(origin: RuleOriginCode, rule: number, label: number): RuleMatch {
  return (rule + 1) | (origin << ORIGIN_SHIFT) | (label << LABEL_SHIFT);
}

/**
 * The largest rule number that a match can contain; larger numbers (more than two million combinations of lists) are
 * all stored as this number.
 */
export const MAX_RULE = RULE_MASK - 1;

/** Rule matches of one thread. Hash lanes and versions are i32. */
export class RuleMatchMemo {
  private readonly words = new Int32Array(SETS * SET_WORDS);

  /** The rule match of the name with these hash lanes, or UNKNOWN. */
  find(low: number, high: number, snapshotVersion: number, policyClass: number): RuleMatch {
    const { words } = this;
    const key = classKey(low, policyClass);
    const first = setOf(key);
    for (let at = first; at < first + SET_WORDS; at += ENTRY_WORDS)
      if (words[at + LOW_AT] === key && words[at + HIGH_AT] === high)
        return words[at + VERSION_AT] === ~snapshotVersion ? words[at + MATCH_AT]! : UNKNOWN;
    return UNKNOWN;
  }

  /** Loads the line that `find` will read into the CPU cache; the result has no meaning. */
  touch(low: number, policyClass: number): number {
    return this.words[setOf(classKey(low, policyClass))]!;
  }

  /** Stores a match in the entry of the name, in an outdated entry, or in an entry that the hash chooses. */
  remember(low: number, high: number, snapshotVersion: number, policyClass: number, match: RuleMatch): void {
    const { words } = this;
    const key = classKey(low, policyClass);
    const at = this.placeOf(key, high, ~snapshotVersion);
    words[at + LOW_AT] = key;
    words[at + HIGH_AT] = high;
    // The version is inverted, so that an empty entry does not match any version.
    words[at + VERSION_AT] = ~snapshotVersion;
    words[at + MATCH_AT] = match;
  }

  private placeOf(key: number, high: number, version: number): number {
    const { words } = this;
    const first = setOf(key);
    let free = -1;
    for (let at = first; at < first + SET_WORDS; at += ENTRY_WORDS) {
      if (words[at + LOW_AT] === key && words[at + HIGH_AT] === high) return at;
      if (free < 0 && words[at + VERSION_AT] !== version) free = at;
    }
    return free < 0 ? first + (high & (SET_WORDS - ENTRY_WORDS)) : free;
  }
}

function setOf(key: number): number {
  return (key & (SETS - 1)) << SET_SHIFT;
}

/** The low lane combined with the class: the same name has an entry for each class. */
function classKey(low: number, policyClass: number): number {
  return low ^ Math.imul(policyClass, CLASS_FACTOR);
}
