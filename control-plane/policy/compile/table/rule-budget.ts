/**
 * Budgets of special rules, per list and for all lists. An automaton needs one step for each byte of a name. Limiting
 * the number of automata that read every name therefore limits the cost of every query, whatever the rules are;
 * docs/decisions/0001-compiled-automata.md has measurements.
 */
import type { AutomatonSpace } from '../../../../shared/automata/automaton-packer.ts';

/** Limits, or remaining amounts, of each resource. */
export interface RuleBudget {
  /** Work to compile automata, see `Determinized`. */
  readonly work: number;
  /** Number of automata that read every name, and of entries in their tables. */
  readonly automata: number;
  readonly automatonEntries: number;
  /**
   * Number of automata that read the addresses in answers, and of entries in their tables; 0 = rules are not matched
   * against addresses.
   */
  readonly addressAutomata: number;
  readonly addressEntries: number;
  /** Number of entries in the tables of automata that only read names with a given literal. */
  readonly ownEntries: number;
  /** Number of rules for the same name. */
  readonly rulesAtName: number;
}

/** Budget of one list. */
export const LIST_BUDGET: RuleBudget = {
  work: 30_000_000,
  automata: 224,
  automatonEntries: 1_500_000,
  addressAutomata: 16,
  addressEntries: 100_000,
  ownEntries: 4_000_000,
  rulesAtName: 64,
};

/** Budget of all lists together. */
export const LISTS_BUDGET: RuleBudget = {
  work: 90_000_000,
  automata: 256,
  automatonEntries: 2_000_000,
  addressAutomata: 32,
  addressEntries: 200_000,
  ownEntries: 8_000_000,
  rulesAtName: 256,
};

/** Budget of a short text that is read on the main thread; takes about 10 ms. */
export const SHORT_TEXT_BUDGET: RuleBudget = { ...LIST_BUDGET, work: 500_000 };

/** Budget of all regex filters of users, which only match names. */
export const FILTERS_BUDGET: RuleBudget = {
  work: 90_000_000,
  automata: 128,
  automatonEntries: 1_000_000,
  addressAutomata: 0,
  addressEntries: 0,
  ownEntries: 4_000_000,
  rulesAtName: 0,
};

/**
 * Budget of filters after a change by users. It is lower than `FILTERS_BUDGET`: filters are merged in the order of
 * their creation, and after one is removed, the remaining filters may need more.
 */
export const CHANGED_FILTERS_BUDGET: RuleBudget = {
  ...FILTERS_BUDGET,
  automata: 112,
  automatonEntries: 850_000,
};

/** The remaining budget. */
export class RuleAllowance {
  work: number;
  ownEntries: number;
  readonly names: AutomatonSpace;
  readonly addresses: AutomatonSpace;
  readonly rulesAtName: number;

  constructor(budget: RuleBudget) {
    this.work = budget.work;
    this.ownEntries = budget.ownEntries;
    this.names = { automata: budget.automata, entries: budget.automatonEntries };
    this.addresses = { automata: budget.addressAutomata, entries: budget.addressEntries };
    this.rulesAtName = budget.rulesAtName;
  }
}
