/**
 * Budgets of special rules, per list and for all lists. An automaton reads a name in one step per byte, so the number
 * of automata that read every name limits the cost of any name with any rules; docs/decisions/0001-compiled-automata.md
 * has measurements.
 */
import type { AutomatonSpace } from '../../../../shared/automata/automaton-packer.ts';

/** Amounts of each kind. */
export interface RuleBudget {
  /** Work of compiling, see `Determinized`. */
  readonly work: number;
  /** Automata that read every name, and entries of their tables. */
  readonly automata: number;
  readonly automatonEntries: number;
  /**
   * Automata that read the addresses in answers, and entries of their tables; 0 = no rule is matched against addresses.
   */
  readonly addressAutomata: number;
  readonly addressEntries: number;
  /** Entries of the tables of automata that only read names with a given literal. */
  readonly ownEntries: number;
  /** Rules for the same name. */
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

/** For a short text that is read on the main thread: about 10 ms of work. */
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
 * Budget of filters after a change. It is lower than the limit for compiling, because filters are merged in the order
 * of their creation: without one of them, the others may need more.
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
