/**
 * Merges two automata: the states are the pairs of states that a name can reach in both. Similar rules together need
 * hardly more states than one rule alone; for different rules, the numbers of states multiply up to the limit.
 */
import { type Automaton, MAX_AUTOMATON_RULES, StateTable, scatter, tableEntries } from './automaton.ts';

/** An automaton with the rules of `a`, then those of `b`; null if its table would have more than `maxEntries`. */
export function mergeAutomata(a: Automaton, b: Automaton, maxEntries: number): Automaton | null {
  const ruleCount = a.ruleCount + b.ruleCount;
  if (ruleCount > MAX_AUTOMATON_RULES) return null;
  const { classOf, pairs } = pairClasses(a, b);
  const classCount = pairs.length;
  const maxStates = Math.floor(maxEntries / tableEntries(1, classCount));
  const known = new StatePairs();
  const next: number[] = [];
  known.numberOf(0, 0);
  const start = known.numberOf(a.start, b.start);
  for (let state = 0; state < known.size; state++) {
    const rowA = known.ofA[state]! * a.classCount;
    const rowB = known.ofB[state]! * b.classCount;
    for (const { one, other } of pairs) next.push(known.numberOf(a.next[rowA + one]!, b.next[rowB + other]!));
    if (known.size > maxStates) return null;
  }
  const both = (masksA: Uint32Array, masksB: Uint32Array): Uint32Array =>
    Uint32Array.from(known.ofA, (one, state) => masksA[one]! | (masksB[known.ofB[state]!]! << a.ruleCount));
  return {
    ruleCount,
    start,
    stateCount: known.size,
    classOf,
    classCount,
    next: Uint16Array.from(next),
    found: both(a.found, b.found),
    foundAtEnd: both(a.foundAtEnd, b.foundAtEnd),
  };
}

/** Pairs of states, one of each automaton, numbered in the order in which they are found. */
class StatePairs {
  readonly ofA: number[] = [];
  readonly ofB: number[] = [];
  private readonly states = new StateTable();

  get size(): number {
    return this.states.size;
  }

  numberOf(one: number, other: number): number {
    const { ofA, ofB } = this;
    const state = this.states.find(
      scatter(one) ^ (other * 31),
      (known) => ofA[known] === one && ofB[known] === other,
    );
    ofA[state] = one;
    ofB[state] = other;
    return state;
  }
}

/** Classes of bytes that neither automaton distinguishes, and for each of these classes, the class in both automata. */
function pairClasses(
  a: Automaton,
  b: Automaton,
): { classOf: Uint8Array; pairs: { readonly one: number; readonly other: number }[] } {
  const classOf = new Uint8Array(256);
  const known = new Map<number, number>();
  const pairs: { one: number; other: number }[] = [];
  for (let octet = 0; octet < 256; octet++) {
    const one = a.classOf[octet]!;
    const other = b.classOf[octet]!;
    const key = one * 256 + other;
    let number = known.get(key);
    if (number === undefined) {
      number = pairs.push({ one, other }) - 1;
      known.set(key, number);
    }
    classOf[octet] = number;
  }
  return { classOf, pairs };
}
