/** Estimates how hard a key is to guess, from its characters alone. */

/** Minimum bits of an imported key; by `estimatedBits`, one in 1,000 random keys of 20 hexadecimal digits has fewer. */
export const MIN_KEY_BITS = 48;

/**
 * A low estimate of the entropy of a text in bits: Shannon's entropy per character, times the number of characters that
 * neither repeat three earlier characters nor continue a sequence such as `abc` or `975`. Random keys have at least 2.4
 * bits per character by this measure. `guessable-key.ts` of the control plane recognizes words.
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
