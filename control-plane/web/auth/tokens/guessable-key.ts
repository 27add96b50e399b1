/** Refuses imported keys that consist of words and common passwords, where only the characters look random. */
import { estimatedBits, MIN_KEY_BITS } from '../../../../shared/api/key-entropy.ts';
import { invalid } from '../../../api/api-error.ts';
import { commonPasswords } from '../accounts/weak-password.ts';

/** Minimum length of a word that counts, because a random key contains shorter words by chance. */
const SHORTEST_WORD = 5;
const LONGEST_WORD = 20;
/** Entropy of a common password, including its letter case. */
const BITS_PER_WORD = 17;

/** @throws {ApiError} 400 */
export async function refuseGuessable(key: string): Promise<void> {
  const { words, rest } = wordsIn(key, await commonPasswords());
  if (words === 0 || words * BITS_PER_WORD + estimatedBits(rest) >= MIN_KEY_BITS) return;
  throw invalid([{ path: 'key', message: 'expected a random key, without words' }]);
}

/** Number of words in a key, with the longest match at each position, and the remaining characters. */
function wordsIn(key: string, known: ReadonlySet<string>): { words: number; rest: string } {
  const folded = key.toLowerCase();
  let words = 0;
  let rest = '';
  for (let at = 0; at < key.length;) {
    let length = Math.min(LONGEST_WORD, key.length - at);
    while (length >= SHORTEST_WORD && !known.has(folded.slice(at, at + length))) length--;
    if (length < SHORTEST_WORD) rest += key[at++]!;
    else {
      words++;
      at += length;
    }
  }
  return { words, rest };
}
