/**
 * Classes of bytes: bytes that a program does not distinguish lead from each state of its automaton to the same next
 * state, and share a column of the table.
 */
import type { ByteProgram } from '../policy/regex.ts';

/** The byte at the end of a line. */
export const NEWLINE = 0x0a;

/** The classes of bytes that no set of the program and no assertion distinguishes, and one byte of each class. */
export function classifyOctets(
  { sets }: ByteProgram,
  usesWords: boolean,
  usesLines: boolean,
): { classOf: Uint8Array; representatives: number[] } {
  const classOf = new Uint8Array(256);
  const known = new Map<string, number>();
  const representatives: number[] = [];
  for (let octet = 0; octet < 256; octet++) {
    let key = usesLines && octet === NEWLINE ? 'n' : '';
    if (usesWords && isWordOctet(octet)) key += 'w';
    for (const set of sets) key += String(set[octet]);
    let number = known.get(key);
    if (number === undefined) {
      number = representatives.push(octet) - 1;
      known.set(key, number);
    }
    classOf[octet] = number;
  }
  return { classOf, representatives };
}

/** Whether a byte belongs to a word: letters, digits and the underscore. */
export function isWordOctet(octet: number): boolean {
  const folded = octet | 0x20;
  return (folded >= 0x61 && folded <= 0x7a) || (octet >= 0x30 && octet <= 0x39) || octet === 0x5f;
}
