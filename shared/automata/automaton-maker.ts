/** Compiles automata, with a cache: after an edit of one pattern, the automata of all other patterns are reused. */
import { type Automaton } from './automaton.ts';
import type { Determinized } from './determinize.ts';
import { compileExpression } from './expression.ts';
import { mergeAutomata } from './merge-automata.ts';

/** Compiles automata. */
export interface AutomatonMaker {
  /** Compiles an expression, see `compileExpression`. */
  compile(pattern: string): Determinized;
  /** Merges two automata, see `mergeAutomata`. */
  merge(a: Automaton, b: Automaton, maxEntries: number): Automaton | null;
}

/** Compiles automata without a cache. */
export const FRESH_AUTOMATA: AutomatonMaker = { compile: compileExpression, merge: mergeAutomata };

/** Caches the results of the last two rounds: compiling the same patterns in the same order again costs nothing. */
export class RememberedAutomata implements AutomatonMaker {
  private compiled = new Map<string, Determinized>();
  private before = new Map<string, Determinized>();
  private readonly merged = new WeakMap<
    Automaton,
    WeakMap<Automaton, { max: number; made: Automaton | null }>
  >();

  /** Starts a round; evicts results that were not used since the last call. */
  beginRound(): void {
    this.before = this.compiled;
    this.compiled = new Map();
  }

  compile(pattern: string): Determinized {
    const made = this.compiled.get(pattern) ?? this.before.get(pattern) ?? compileExpression(pattern);
    this.compiled.set(pattern, made);
    return made;
  }

  merge(a: Automaton, b: Automaton, maxEntries: number): Automaton | null {
    let partners = this.merged.get(a);
    if (partners === undefined) this.merged.set(a, (partners = new WeakMap()));
    const known = partners.get(b);
    if (known?.max === maxEntries) return known.made;
    const made = mergeAutomata(a, b, maxEntries);
    partners.set(b, { max: maxEntries, made });
    return made;
  }
}
