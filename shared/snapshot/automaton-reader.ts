/**
 * Matches a text against automata in the memory of special rules (`AutomatonLayout`): one step per byte, no allocation,
 * and the same cost for all expressions.
 */
import { AutomatonLayout as A } from './layout.ts';

/** Reader of the automata of one buffer. */
export class AutomatonReader {
  private readonly words: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly entries: Uint16Array;

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.bytes = new Uint8Array(buffer);
    this.entries = new Uint16Array(buffer, 0, buffer.byteLength >>> 1);
  }

  /** Mask of the rules of the automaton at word `at` that are found in the first `length` bytes of `text`. */
  find(at: number, text: Uint8Array, length: number): number {
    const { words, bytes, entries } = this;
    const classes = (at + words[at + A.CLASSES]!) * 4;
    const table = (at + words[at + A.TABLE]!) * 2;
    const masks = at + words[at + A.MASKS]!;
    const quiet = words[at + A.QUIET_ROW]!;
    const foundColumn = table + words[at + A.CLASS_COUNT]!;
    const all = words[at + A.ALL_RULES]!;
    let row = words[at + A.START_ROW]!;
    let found = 0;
    for (let octet = 0; ; octet++) {
      if (row < quiet) {
        if (row === 0) return found;
        found |= words[masks + entries[foundColumn + row]!]!;
        if (found === all) return found;
      }
      if (octet === length) break;
      row = entries[table + row + bytes[classes + text[octet]!]!]!;
    }
    return found | words[masks + entries[foundColumn + row + 1]!]!;
  }

  /** Index of the rule for a bit of a mask that `find` returned. */
  ruleAt(at: number, bit: number): number {
    return this.words[at + A.RULES + bit]!;
  }

  /** Source of an automaton's rules. */
  sourceOf(at: number): number {
    return this.words[at + A.SOURCE]!;
  }
}
