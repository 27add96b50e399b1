/** How hard a key is to guess, judged by its characters alone. */

/** Least bits of an imported key; one random key of 20 hexadecimal digits in 1,000 has fewer by `estimatedBits`. */
export const LEAST_KEY_BITS = 48;

/**
 * A low estimate of the bits of entropy of a text: Shannon's entropy per character, times the characters that neither
 * repeat three characters from before nor continue a sequence such as `abc` or `975`. Random keys have at least 2.4 bits
 * per character by it. Words that people choose are recognized by `guessable-key.ts` of the control plane.
 */
export function estimatedBits(key: string): number {
  return entropyPerCharacter(key) * unexpectedCharacters(key);
}

function entropyPerCharacter(key: string): number {
  const counts = new Map<string, number>();
  for (const character of key) counts.set(character, (counts.get(character) ?? 0) + 1);
  const shares = [...counts.values()].map((count) => count / key.length);
  return shares.reduce((bits, share) => bits - share * Math.log2(share), 0);
}

function unexpectedCharacters(key: string): number {
  const seen = new Set<string>();
  let count = Math.min(2, key.length);
  for (let end = 2; end < key.length; end++) {
    const three = key.slice(end - 2, end + 1);
    const step = key.charCodeAt(end) - key.charCodeAt(end - 1);
    const isSequence = step === key.charCodeAt(end - 1) - key.charCodeAt(end - 2);
    if (!isSequence && !seen.has(three)) count++;
    seen.add(three);
  }
  return count;
}
