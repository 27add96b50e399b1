/**
 * Finds which of a few names a list blocks or allows while the list is read, and which of its rules are too wide; the
 * check of updates uses this for the names that this network queries most. Patterns, expressions and conditional rules
 * are stored and matched at the end; all other rules are matched immediately. Rules for only some clients are ignored.
 */
import { RRType } from '../../../../shared/dns/iana.ts';
import { FOLD } from '../../../../shared/dns/name.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { SpecialMatcher } from '../../../../shared/snapshot/special-matcher.ts';
import type { SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import { hashedName } from './hashed-name.ts';
import { encodeSpecialRules } from './special-rules-builder.ts';
import { SpecialRuleSet } from './special-rule-set.ts';
import type { BadFilter, SpecialLine } from '../parse/adblock-rule.ts';
import { invalidLine } from '../parse/foreign-line.ts';
import type { UnusedLine } from '../parse/list-statistics.ts';
import type { SpecialSink } from '../parse/rule-output.ts';

const BLOCK_NAME = RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX | RuleKind.IMPORTANT_BLOCK_SUFFIX;
const BLOCK_BELOW = RuleKind.BLOCK_SUFFIX | RuleKind.IMPORTANT_BLOCK_SUFFIX | RuleKind.BLOCK_BELOW;
const ALLOW_NAME = RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.IMPORTANT_ALLOW_SUFFIX;
const ALLOW_BELOW = RuleKind.ALLOW_SUFFIX | RuleKind.IMPORTANT_ALLOW_SUFFIX | RuleKind.ALLOW_BELOW;

/** A rule that matches every name, with its line. */
export interface WideRule {
  /** Line number, starting at 1. */
  readonly line: number;
  readonly rule: string;
}

/** Watched names that a rule for a name can affect. */
interface Reach {
  /** Index of the watched name that equals the rule's name; -1 = none. */
  self: number;
  /** Indexes of the watched names below the rule's name. */
  readonly below: number[];
}

/** Pass the rules of one list to `see`, then query the result. */
export class WatchedNames implements SpecialSink {
  private readonly names: readonly string[];
  private readonly reaches = new Map<string, Reach>();
  /** Bitmap for a fast first check, by length and first two letters of all keys of `reaches`. */
  private readonly likely = new Uint8Array(65_536);
  private readonly blocks: Uint8Array;
  private readonly allows: Uint8Array;
  private readonly rules: SpecialRuleSet;
  private readonly disabledRules = new Set<string>();
  private readonly wide: WideRule[] = [];

  /** `names` are in lower case, without final dots; `rules` must be empty. */
  constructor(names: readonly string[], rules = new SpecialRuleSet()) {
    this.rules = rules;
    this.names = names;
    this.blocks = new Uint8Array(names.length);
    this.allows = new Uint8Array(names.length);
    for (const [index, name] of names.entries()) {
      this.reachOf(name).self = index;
      for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
        this.reachOf(name.slice(dot + 1)).below.push(index);
    }
  }

  /** Receives a rule, like a `RuleSink`. */
  see(bytes: Uint8Array, start: number, end: number, kinds: number): void {
    if (this.likely[likelihood(end - start, bytes[start]!, bytes[start + 1]!)] === 0) return;
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
      .toString('latin1')
      .toLowerCase();
    const reach = this.reaches.get(name);
    if (reach === undefined) return;
    if (reach.self >= 0) {
      if ((kinds & BLOCK_NAME) !== 0) this.blocks[reach.self] = 1;
      if ((kinds & ALLOW_NAME) !== 0) this.allows[reach.self] = 1;
    }
    for (const index of reach.below) {
      if ((kinds & BLOCK_BELOW) !== 0) this.blocks[index] = 1;
      if ((kinds & ALLOW_BELOW) !== 0) this.allows[index] = 1;
    }
  }

  special(rule: SpecialLine, line: number): UnusedLine | null {
    const refused = this.rules.add({ ...rule, source: 0, line });
    if (refused !== null) return invalidLine(refused);
    if (this.rules.placed.at(-1)!.isForEveryName) this.wide.push({ line, rule: rule.rule });
    return null;
  }

  badFilter({ rule }: BadFilter): boolean {
    this.disabledRules.add(rule);
    return true;
  }

  /** Matches the stored rules against the names; called once, after the list has been read. */
  finish(): void {
    if (this.rules.placed.length === 0 || this.names.length === 0) return;
    const rules = encodeSpecialRules(this.rules, SEEDS, (rule) => (this.counts(rule) ? rule : null));
    const matcher = new SpecialMatcher(rules, SEEDS.low, SEEDS.high);
    for (const [index, name] of this.names.entries()) {
      const hashed = hashedName(name, SEEDS);
      if (hashed === null) continue;
      matcher.forEachMatch(hashed, ONE_SOURCE, (rule) => {
        const { kind, rewrite } = matcher.rule(rule);
        // An exception with a rewrite only cancels rewrites.
        if (rewrite !== undefined && (kind & ALLOW_BELOW) !== 0) return;
        if ((kind & BLOCK_NAME) !== 0) this.blocks[index] = 1;
        if ((kind & ALLOW_NAME) !== 0) this.allows[index] = 1;
      });
    }
  }

  private counts(rule: SpecialRule): boolean {
    const isForAll = rule.clients === undefined && rule.clientNames === undefined;
    return isForAll && isForAddressQuestions(rule) && !this.disabledRules.has(rule.rule);
  }

  /** Rules that match every name if their conditions are met. */
  forEveryName(): WideRule[] {
    return this.wide.filter(({ rule }) => !this.disabledRules.has(rule));
  }

  /** Share of the address space that patterns and expressions match, 0 to 1. */
  addressShare(): number {
    return this.rules.addressSamples.share();
  }

  /** The watched names that the list allows. */
  allowed(): string[] {
    return this.names.filter((_, index) => this.allows[index] === 1);
  }

  /** The watched names that the list blocks and does not itself allow. */
  blocked(): string[] {
    return this.names.filter((_, index) => this.blocks[index] === 1 && this.allows[index] === 0);
  }

  private reachOf(name: string): Reach {
    let reach = this.reaches.get(name);
    if (reach === undefined) {
      reach = { self: -1, below: [] };
      this.reaches.set(name, reach);
      this.likely[likelihood(name.length, name.charCodeAt(0), name.charCodeAt(1))] = 1;
    }
    return reach;
  }
}

/** Fixed seeds, because these hashes never leave the thread. */
const SEEDS = { low: 1, high: 2 };
/** Flags of the active sources: the list is the only source. */
const ONE_SOURCE = Uint8Array.of(1);

/** Whether a rule applies to queries for addresses (A and AAAA), the most frequent ones. */
function isForAddressQuestions({ types, exceptTypes }: SpecialRule): boolean {
  return [RRType.A, RRType.AAAA].some(
    (type) => (types === undefined || types.includes(type)) && exceptTypes?.includes(type) !== true,
  );
}

function likelihood(length: number, first: number, second: number): number {
  return ((length << 10) ^ (FOLD[first & 0xff]! << 5) ^ FOLD[second & 0xff]!) & 0xffff;
}
