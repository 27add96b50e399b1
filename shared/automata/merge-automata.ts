/**
 * Merges two automata: the states are the pairs of states that a name can reach in both. Similar rules need hardly more
 * states than one of them; the pairs of others multiply up to the limit.
 */
import { type Automaton, MAX_AUTOMATON_RULES, StateTable, scatter, tableEntries } from './automaton.ts';

/** The rules of `a`, then those of `b`; null if its table would have more than `maxEntries`. */
export function mergeAutomata(a: Automaton, b: Automaton, maxEntries: number): Automaton | null {
  const ruleCount = a.ruleCount + b.ruleCount;
  if (ruleCount > MAX_AUTOMATON_RULES) return null;
  const { classOf, pairs } = pairClasses(a, b);
  const classCount = pairs.length;
  const maxStates = Math.floor(maxEntries / tableEntries(1, classCount));
  const states = new StateTable();
  const ofA: number[] = [];
  const ofB: number[] = [];
  const next: number[] = [];
  const stateOf = (one: number, other: number): number => {
    const state = states.find(
      scatter(one) ^ (other * 31),
      (known) => ofA[known] === one && ofB[known] === other,
    );
    ofA[state] = one;
    ofB[state] = other;
    return state;
  };
  stateOf(0, 0);
  const start = stateOf(a.start, b.start);
  for (let state = 0; state < states.size; state++) {
    const rowA = ofA[state]! * a.classCount;
    const rowB = ofB[state]! * b.classCount;
    for (const { one, other } of pairs) next.push(stateOf(a.next[rowA + one]!, b.next[rowB + other]!));
    if (states.size > maxStates) return null;
  }
  return {
    ruleCount,
    start,
    stateCount: states.size,
    classOf,
    classCount,
    next: Uint16Array.from(next),
    found: Uint32Array.from(ofA, (one, state) => a.found[one]! | (b.found[ofB[state]!]! << a.ruleCount)),
    foundAtEnd: Uint32Array.from(
      ofA,
      (one, state) => a.foundAtEnd[one]! | (b.foundAtEnd[ofB[state]!]! << a.ruleCount),
    ),
  };
}

/** Classes of octets that neither automaton distinguishes, and the class of each in both. */
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
