/**
 * How much the automaton of one rule matches: a given text, every name, or no name at all. A name is text as in
 * `expression.ts`.
 */
import { WELL_KNOWN_NAMES } from '../policy/well-known-names.ts';
import type { Automaton } from './automaton.ts';

const DOT = 0x2e;
const FIRST_VISIBLE = 0x21;
const LAST_VISIBLE = 0x7e;
/**
 * Visible characters that names do not contain: upper-case letters are excluded because names are converted to lower
 * case.
 */
const FOREIGN = /[A-Z/:]/;

/** Whether the rule is found in `text`, which is in lower case. */
export function finds(
  { start, classOf, classCount, next, found, foundAtEnd }: Automaton,
  text: string,
): boolean {
  let state = start;
  for (let at = 0; found[state] === 0; at++) {
    if (at === text.length) return foundAtEnd[state] !== 0;
    const octet = text.charCodeAt(at);
    if (state === 0 || octet > 0xff) return false;
    state = next[state * classCount + classOf[octet]!]!;
  }
  return true;
}

/** Whether the rule is found in the empty text, or in each of the well-known names. */
export function findsEveryName(automaton: Automaton): boolean {
  return finds(automaton, '') || WELL_KNOWN_NAMES.every((name) => finds(automaton, name));
}

/** Whether a name exists in which the rule is found: visible ASCII without slash and colon, no empty label. */
export function canFindName({ start, classOf, classCount, next, found, foundAtEnd }: Automaton): boolean {
  if (found[start] !== 0) return true;
  const letters = classesOfLetters(classOf);
  /** States that are still to be followed, each as twice its index, plus one if the last byte was a letter. */
  const open = [start * 2];
  const seen = new Set(open);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const state = place >> 1;
    const isAfterLetter = (place & 1) === 1;
    if (found[state] !== 0 || (isAfterLetter && foundAtEnd[state] !== 0)) return true;
    const go = (octetClass: number, letter: number): void => {
      const to = next[state * classCount + octetClass]! * 2 + letter;
      if (seen.has(to)) return;
      seen.add(to);
      open.push(to);
    };
    for (const octetClass of letters) go(octetClass, 1);
    if (isAfterLetter) go(classOf[DOT]!, 0);
  }
  return false;
}

function classesOfLetters(classOf: Uint8Array): ReadonlySet<number> {
  const classes = new Set<number>();
  for (let octet = FIRST_VISIBLE; octet <= LAST_VISIBLE; octet++)
    if (octet !== DOT && !FOREIGN.test(String.fromCharCode(octet))) classes.add(classOf[octet]!);
  return classes;
}
