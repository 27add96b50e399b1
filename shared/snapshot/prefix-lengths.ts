/** The prefix lengths in address rules: one bit per length, as in rule tables. */
import { RuleTableLayout as L } from './layout.ts';

const WORDS = 5;
const IPV6_WORD = L.IPV6_PREFIXES_WORD - L.IPV4_PREFIXES_WORD;

/** A set of prefix lengths, separately for IPv4 and IPv6. */
export class PrefixLengths {
  /** Words of bits: one for IPv4, then four for IPv6. */
  readonly words: Int32Array;

  constructor(words: ArrayLike<number> = new Int32Array(WORDS)) {
    this.words = Int32Array.from(words);
  }

  /** Adds a prefix length: at least 1 and less than `addressBits`, which is 32 or 128. */
  add(addressBits: number, prefixBits: number): void {
    const word = addressBits === 32 ? 0 : IPV6_WORD + (prefixBits >>> 5);
    this.words[word]! |= 1 << (prefixBits & 31);
  }

  /** Adds all lengths of another set, given as its words. */
  addAll(words: ArrayLike<number>): void {
    for (let word = 0; word < WORDS; word++) this.words[word]! |= words[word] ?? 0;
  }

  /** The lengths for addresses with this many bits, the longest first. */
  lengthsFor(addressBits: number): Uint8Array {
    const lengths: number[] = [];
    const first = addressBits === 32 ? 0 : IPV6_WORD;
    for (let bit = addressBits - 1; bit > 0; bit--)
      if (((this.words[first + (bit >>> 5)]! >>> (bit & 31)) & 1) === 1) lengths.push(bit);
    return Uint8Array.from(lengths);
  }
}
