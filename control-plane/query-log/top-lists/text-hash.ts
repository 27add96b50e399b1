/**
 * HalfSipHash-1-3 (Aumasson, Bernstein), 32 bits: texts with equal hashes can only be chosen with knowledge of the key,
 * so a hash table needs no limit for the length of a search.
 */

/** Hash of `length` bytes and a number; the key consists of two numbers. */
export function hashText(
  source: Uint8Array,
  at: number,
  length: number,
  tag: number,
  key: Int32Array,
): number {
  let v0 = key[0]!;
  let v1 = key[1]! ^ tag;
  let v2 = 0x6c796765 ^ v0;
  let v3 = 0x74656462 ^ v1;
  const words = length >>> 2;
  const end = at + length;
  // The steps process the words of the text, then its last bytes together with the length, and then three finalization
  // rounds.
  for (let step = 0, from = at; step <= words + 3; step++, from += 4) {
    let word = 0;
    if (step < words) {
      word = source[from]! | (source[from + 1]! << 8) | (source[from + 2]! << 16) | (source[from + 3]! << 24);
    } else if (step === words) {
      word = length << 24;
      if (from < end) word |= source[from]!;
      if (from + 1 < end) word |= source[from + 1]! << 8;
      if (from + 2 < end) word |= source[from + 2]! << 16;
    } else if (step === words + 1) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = (v1 << 5) | (v1 >>> 27);
    v1 ^= v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = (v3 << 8) | (v3 >>> 24);
    v3 ^= v2;
    v0 = (v0 + v3) | 0;
    v3 = (v3 << 7) | (v3 >>> 25);
    v3 ^= v0;
    v2 = (v2 + v1) | 0;
    v1 = (v1 << 13) | (v1 >>> 19);
    v1 ^= v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}
