/**
 * Packs the automata of patterns, so that one pass over a name matches many patterns: each new automaton is merged with
 * an existing one if the result stays small, and stays separate if not.
 */
import { type Automaton, MAX_AUTOMATON_RULES, canEndEarly, tableEntries } from './automaton.ts';
import type { AutomatonMaker } from './automaton-maker.ts';

/** The remaining budget: the number of automata that read a name, and the entries of their tables (two bytes each). */
export interface AutomatonSpace {
  automata: number;
  entries: number;
}

/** An automaton, and the rules to which its bits belong. */
export interface PackedAutomaton {
  readonly automaton: Automaton;
  readonly rules: readonly number[];
  readonly endsEarly: boolean;
}

/** Maximum number of entries of a merged table: 16 KiB, so that many tables fit in a CPU cache. */
const MAX_MERGED_ENTRIES = 8_192;
/**
 * Number of existing automata with which a merge of a new one is tried: twice as many tries would merge 5 % more, for
 * twice the work.
 */
const TRIES = 4;

/** The automata with which one reader matches names. */
export class AutomatonPacker {
  private readonly packed: PackedAutomaton[] = [];
  private readonly spaces: readonly AutomatonSpace[];
  private readonly maker: AutomatonMaker;

  /** Each added automaton is charged to all budgets in `spaces`. */
  constructor(spaces: readonly AutomatonSpace[], maker: AutomatonMaker) {
    this.spaces = spaces;
    this.maker = maker;
  }

  get automata(): readonly PackedAutomaton[] {
    return this.packed;
  }

  /** Adds the automaton of one rule; false if the budget is exhausted. */
  add(automaton: Automaton, rule: number): boolean {
    const left = Math.min(...this.spaces.map(({ entries }) => entries));
    // Merge automata that end early for most names only with each other.
    const endsEarly = canEndEarly(automaton);
    let tries = 0;
    for (let at = this.packed.length - 1; at >= 0 && tries < TRIES; at--) {
      const { automaton: other, rules, endsEarly: otherEnds } = this.packed[at]!;
      if (rules.length >= MAX_AUTOMATON_RULES || otherEnds !== endsEarly) continue;
      tries++;
      const before = entriesOf(other);
      const merged = this.maker.merge(other, automaton, Math.min(MAX_MERGED_ENTRIES, before + left));
      if (merged === null) continue;
      this.take(0, entriesOf(merged) - before);
      this.packed[at] = { automaton: merged, rules: [...rules, rule], endsEarly };
      return true;
    }
    if (entriesOf(automaton) > left || this.spaces.some(({ automata }) => automata <= 0)) return false;
    this.take(1, entriesOf(automaton));
    this.packed.push({ automaton, rules: [rule], endsEarly });
    return true;
  }

  /** Removes a rule; the size of its automaton does not change. */
  drop(rule: number): void {
    for (const [at, packed] of this.packed.entries())
      if (packed.rules.includes(rule))
        this.packed[at] = { ...packed, rules: packed.rules.map((own) => (own === rule ? -1 : own)) };
  }

  private take(automata: number, entries: number): void {
    for (const space of this.spaces) {
      space.automata -= automata;
      space.entries -= entries;
    }
  }
}

/** Entries of an automaton's table. */
export function entriesOf({ stateCount, classCount }: Automaton): number {
  return tableEntries(stateCount, classCount);
}
