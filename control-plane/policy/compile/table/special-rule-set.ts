/**
 * Adds special rules one by one within their budget, and chooses for each rule how a DNS thread finds it at a bounded
 * cost: by its name, by a three-letter sequence (gram) that each of its matches contains, or by an automaton that reads
 * every name. `special-rules-builder.ts` writes the result.
 */
import { AutomatonPacker, entriesOf } from '../../../../shared/automata/automaton-packer.ts';
import type { Automaton } from '../../../../shared/automata/automaton.ts';
import { type AutomatonMaker, FRESH_AUTOMATA } from '../../../../shared/automata/automaton-maker.ts';
import { canFindName, findsEveryName } from '../../../../shared/automata/reach.ts';
import { isAddressExpression } from '../../../../shared/policy/address-expression.ts';
import { isAddressName, isAddressPattern } from '../../../../shared/policy/address-rule.ts';
import {
  longestPiece,
  matchesPattern,
  patternExpression,
  readNamePattern,
} from '../../../../shared/policy/name-pattern.ts';
import { EVERY_NAME, NO_NAME } from '../../../../shared/automata/regex-filter.ts';
import { type LineReason, lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { requiredLiterals } from '../../../../shared/policy/regex-literals.ts';
import { WELL_KNOWN_NAMES } from '../../../../shared/policy/well-known-names.ts';
import { hasConditions, type SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import { AddressSamples } from './address-samples.ts';
import { GramIndex, type GramPlace } from './gram-index.ts';
import { LIST_BUDGET, LISTS_BUDGET, RuleAllowance, type RuleBudget } from './rule-budget.ts';

/** How a rule is found. */
export type RulePlace =
  /** By its name. */
  | { readonly at: 'name' }
  /** By grams of its literals; a pattern is then matched as text, an expression by its own automaton. */
  | { readonly at: 'literals'; readonly grams: readonly GramPlace[]; readonly automaton: Automaton | null }
  /** By an automaton of its source. */
  | { readonly at: 'automaton' }
  /** Not at all: the rule is not stored and never matches. */
  | { readonly at: 'none' };

/** A rule and how it is found. */
export interface PlacedRule {
  readonly rule: SpecialRule;
  readonly place: RulePlace;
  readonly isForAddresses: boolean;
  /** Whether the rule matches every name if its conditions are met. */
  readonly isForEveryName: boolean;
}

/** The rules of a source, and its remaining budget. */
interface SourceRules {
  readonly allowance: RuleAllowance;
  readonly names: AutomatonPacker;
  readonly addresses: AutomatonPacker;
  readonly rulesAtName: Map<string, number>;
}

/** Work of merging an automaton with others, see `AutomatonPacker`. */
const WORK_OF_PACKING = 20_000;

const TOO_MUCH_WORK = lineReason('compile_time');
const NO_AUTOMATON = lineReason('regexes_of_names');
const NO_ADDRESS_AUTOMATON = lineReason('regexes_of_addresses');
const NO_MEMORY = lineReason('compile_memory');
const CROWDED_NAME = lineReason('conditions');
const OVER_BUDGET = new Set([TOO_MUCH_WORK, NO_AUTOMATON, NO_ADDRESS_AUTOMATON, NO_MEMORY, CROWDED_NAME]);

/** Collects the special rules of one table. */
export class SpecialRuleSet {
  readonly placed: PlacedRule[] = [];
  /** Estimates which addresses the patterns and expressions match. */
  readonly addressSamples = new AddressSamples();
  /** Whether a rule was rejected only because of the budget. */
  isOverBudget = false;
  private readonly grams = new GramIndex();
  private readonly budget: RuleBudget;
  private readonly total: RuleAllowance;
  private readonly bySource = new Map<number, SourceRules>();
  private readonly rulesAtName = new Map<string, number>();

  private readonly maker: AutomatonMaker;

  /** `budget` is for each source, `totalBudget` for all sources together. */
  constructor(budget = LIST_BUDGET, totalBudget = LISTS_BUDGET, maker = FRESH_AUTOMATA) {
    this.budget = budget;
    this.maker = maker;
    this.total = new RuleAllowance(totalBudget);
  }

  /** Adds a rule; returns a reason if the rule is rejected, null if it is added. */
  add(rule: SpecialRule): LineReason | null {
    const source = this.sourceOf(rule.source);
    const isText = rule.match === 'regex' || rule.match === 'pattern';
    const refused = isText ? this.addText(rule, source) : this.addAtName(rule, source);
    if (refused !== null && OVER_BUDGET.has(refused)) this.isOverBudget = true;
    return refused;
  }

  /** Reserves the index of a rule that was not added and never matches, so that later rules keep their indexes. */
  hold(rule: SpecialRule): void {
    this.placed.push({ rule, place: { at: 'none' }, isForAddresses: false, isForEveryName: false });
  }

  /** Automata that read every name, by source. */
  nameAutomata(): Iterable<[number, AutomatonPacker]> {
    return [...this.bySource].map(([source, { names }]) => [source, names]);
  }

  /** Automata that read every address, by source. */
  addressAutomata(): Iterable<[number, AutomatonPacker]> {
    return [...this.bySource].map(([source, { addresses }]) => [source, addresses]);
  }

  private sourceOf(number: number): SourceRules {
    let source = this.bySource.get(number);
    if (source === undefined) {
      const allowance = new RuleAllowance(this.budget);
      source = {
        allowance,
        names: new AutomatonPacker([allowance.names, this.total.names], this.maker),
        addresses: new AutomatonPacker([allowance.addresses, this.total.addresses], this.maker),
        rulesAtName: new Map(),
      };
      this.bySource.set(number, source);
    }
    return source;
  }

  private addAtName(rule: SpecialRule, { allowance, rulesAtName }: SourceRules): LineReason | null {
    const { text } = rule;
    const own = rulesAtName.get(text) ?? 0;
    const all = this.rulesAtName.get(text) ?? 0;
    if (own >= allowance.rulesAtName || all >= this.total.rulesAtName) return CROWDED_NAME;
    rulesAtName.set(text, own + 1);
    this.rulesAtName.set(text, all + 1);
    const isForAddresses = isAddressName(text);
    this.placed.push({ rule, place: { at: 'name' }, isForAddresses, isForEveryName: false });
    return null;
  }

  private addText(rule: SpecialRule, source: SourceRules): LineReason | null {
    const isForAddresses = this.isForAddresses(rule);
    const grams = this.grams.placeOf(literalsOf(rule));
    let automaton: Automaton | null = null;
    if (rule.match === 'regex' || grams === null || isForAddresses) {
      const made = this.compile(rule, source.allowance);
      if (typeof made === 'string') return made;
      automaton = made;
    }
    if (rule.match === 'regex' && !isForAddresses && !canFindName(automaton!)) return NO_NAME;
    const isForEveryName =
      rule.match === 'regex' ? findsEveryName(automaton!) : isPatternOfEveryName(rule.text);
    if (isForEveryName && rule.forEveryName !== true && !hasConditions(rule)) return EVERY_NAME;
    const index = this.placed.length;
    if (isForAddresses && !source.addresses.add(automaton!, index)) return NO_ADDRESS_AUTOMATON;
    let place: RulePlace;
    if (grams === null) {
      source.allowance.work -= WORK_OF_PACKING;
      this.total.work -= WORK_OF_PACKING;
      if (!source.names.add(automaton!, index)) {
        source.addresses.drop(index);
        return NO_AUTOMATON;
      }
      place = { at: 'automaton' };
    } else {
      const own = rule.match === 'regex' ? automaton : null;
      if (own !== null && !this.takeEntries(entriesOf(own), source.allowance)) {
        source.addresses.drop(index);
        return NO_MEMORY;
      }
      this.grams.take(grams);
      place = { at: 'literals', grams, automaton: own };
    }
    if (isForAddresses) this.addressSamples.mark(automaton!);
    this.placed.push({ rule, place, isForAddresses, isForEveryName });
    return null;
  }

  /** Without a budget for address automata, rules are only matched against names. */
  private isForAddresses({ match, text }: SpecialRule): boolean {
    if (this.budget.addressAutomata === 0) return false;
    return match === 'regex' ? isAddressExpression(text) : isAddressPattern(text);
  }

  private compile({ match, text }: SpecialRule, allowance: RuleAllowance): Automaton | LineReason {
    if (allowance.work <= 0 || this.total.work <= 0) return TOO_MUCH_WORK;
    const pattern = match === 'pattern' ? readNamePattern(text) : null;
    if (typeof pattern === 'string') return pattern;
    const made = this.maker.compile(pattern === null ? text : patternExpression(pattern));
    allowance.work -= made.work;
    this.total.work -= made.work;
    return 'automaton' in made
      ? made.automaton
      : lineReason(match === 'regex' ? 'in_regex' : 'in_pattern', { reason: made.reason });
  }

  private takeEntries(entries: number, allowance: RuleAllowance): boolean {
    if (entries > allowance.ownEntries || entries > this.total.ownEntries) return false;
    allowance.ownEntries -= entries;
    this.total.ownEntries -= entries;
    return true;
  }
}

function literalsOf({ match, text }: SpecialRule): readonly string[] | null {
  if (match === 'regex') return requiredLiterals(text);
  const pattern = readNamePattern(text);
  return typeof pattern === 'string' ? null : [longestPiece(pattern)];
}

function isPatternOfEveryName(text: string): boolean {
  const pattern = readNamePattern(text);
  return typeof pattern !== 'string' && WELL_KNOWN_NAMES.every((name) => matchesPattern(pattern, name));
}
