/**
 * Translates bracket expressions of TRE to RE2. In TRE a backslash within brackets is literal, and a range may begin or
 * end with any character. Pure.
 */
import { type ImportReason, importReason } from '../../../../../shared/policy/reasons/import-reasons.ts';

/** A bracket expression for RE2 and the length of its source, or the reason why there is no equivalent. */
export type ReadBracket =
  | { readonly text: string; readonly length: number; readonly isWord: boolean }
  | { readonly reason: ImportReason };

const CLASSES = /^(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)$/;
/** Classes that only contain word characters. */
const OF_WORDS = /^(?:alnum|alpha|digit|lower|upper|xdigit)$/;
const WORD = /^\w$/;
/** Characters with a different meaning in RE2 within brackets. */
const SPECIAL = /[\\[\]]/;

/** Reads the bracket expression at the start of `rest`. */
export function readBracket(rest: string): ReadBracket {
  const isNegated = rest[1] === '^';
  const first = isNegated ? 2 : 1;
  let text = isNegated ? '[^' : '[';
  let isWord = !isNegated;
  let at = first;
  while (rest[at] !== ']' || at === first) {
    const item = itemAt(rest, at, first);
    if ('reason' in item) return item;
    text += item.text;
    isWord &&= item.isWord;
    at += item.length;
  }
  return { text: `${text}]`, length: at + 1, isWord };
}

function itemAt(rest: string, at: number, first: number): ReadBracket {
  const letter = rest[at];
  if (letter === undefined) return { reason: importReason('pihole_open_bracket') };
  const [next = '', last = ''] = rest.slice(at + 1, at + 3);
  if (next === '-' && last !== ']' && last !== '') {
    if (letter > last) return { reason: importReason('pihole_no_range', { first: letter, last }) };
    // If case is ignored, a range also includes the letters in the other case, as in RE2.
    return { text: `${escaped(letter)}-${escaped(last)}`, length: 3, isWord: isWordRange(letter, last) };
  }
  if (letter === '[' && /[.=]/.test(next)) return { reason: importReason('pihole_collating') };
  if (letter === '[' && next === ':') {
    const name = /^\[:([^:]*):\]/.exec(rest.slice(at))?.[1] ?? '';
    if (!CLASSES.test(name)) return { reason: importReason('pihole_character_class') };
    return { text: `[:${name}:]`, length: name.length + 4, isWord: OF_WORDS.test(name) };
  }
  if (letter === '-' && next !== ']' && at !== first)
    return { reason: importReason('pihole_ranges_overlap') };
  // Here, a hyphen is the first or last character, which RE2 also permits.
  return { text: escaped(letter), length: 1, isWord: WORD.test(letter) };
}

function isWordRange(from: string, to: string): boolean {
  for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++)
    if (!WORD.test(String.fromCharCode(code))) return false;
  return true;
}

function escaped(letter: string): string {
  return SPECIAL.test(letter) ? `\\${letter}` : letter;
}
