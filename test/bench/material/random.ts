// Seeded random numbers, so that two machines use the same questions: a generator, a shuffle, and Zipf ranks.

/** A number in [0, 1). */
export type Random = () => number;

/** A small generator (32-bit state, the "mulberry" mixing steps); the same seed gives the same numbers. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Shuffles in place (Fisher and Yates). */
export function shuffle(items: unknown[], random: Random): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const kept = items[last];
    items[last] = items[other];
    items[other] = kept;
  }
}

/** Draws ranks 0..count-1, rank k with a probability proportional to (k + 1 + shift)^-exponent. */
export function zipfRanks(count: number, exponent: number, shift: number, random: Random): () => number {
  const upTo = new Float64Array(count);
  let total = 0;
  for (let rank = 0; rank < count; rank++) {
    total += (rank + 1 + shift) ** -exponent;
    upTo[rank] = total;
  }
  return () => {
    const wanted = random() * total;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (upTo[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
