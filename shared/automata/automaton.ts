/**
 * A deterministic automaton that finds up to 32 rules in a name, with one step per byte, regardless of the rules and
 * the name. State 0 is the dead state, from which nothing can be found.
 */
export interface Automaton {
  /** Number of rules, 1 to 32; rule `i` is bit `1 << i` of a mask. */
  readonly ruleCount: number;
  readonly start: number;
  readonly stateCount: number;
  /** Class of each of the 256 bytes; bytes that no state distinguishes share a class. */
  readonly classOf: Uint8Array;
  readonly classCount: number;
  /** State after a byte: `next[state * classCount + class]`. */
  readonly next: Uint16Array;
  /** Rules that are found when the state is reached. */
  readonly found: Uint32Array;
  /** Rules that are found if the name ends in the state. */
  readonly foundAtEnd: Uint32Array;
}

/** Maximum number of rules of one automaton. */
export const MAX_AUTOMATON_RULES = 32;
/**
 * Maximum length of a name as text, in octets (RFC 1035 section 2.3.4): the automaton need not distinguish longer
 * inputs.
 */
export const MAX_TEXT_LENGTH = 253;
/** Columns of a state's row in addition to the columns of its classes, see `SpecialRulesLayout`. */
export const MASK_COLUMNS = 2;
/** Maximum number of entries of a table, including masks: an entry has 16 bits and identifies a row. */
export const MAX_TABLE_ENTRIES = 32_768;

/** Entries of the table of an automaton with this many states. */
export function tableEntries(stateCount: number, classCount: number): number {
  return stateCount * (classCount + MASK_COLUMNS);
}

/** Whether the automaton ends early for some names, because its rules are anchored at the start. */
export function canEndEarly({ next }: Automaton): boolean {
  return next.includes(0, 1);
}

/** Interns states by content, so that each state exists once. */
export class StateTable {
  private slots = new Int32Array(1024).fill(-1);
  private readonly hashes: number[] = [];

  get size(): number {
    return this.hashes.length;
  }

  /** Index of the state with this hash for which `isSame` is true, or of a new state if there is none. */
  find(hash: number, isSame: (state: number) => boolean): number {
    const mask = this.slots.length - 1;
    let slot = scatter(hash) & mask;
    for (; this.slots[slot]! >= 0; slot = (slot + 1) & mask) {
      const state = this.slots[slot]!;
      if (this.hashes[state] === hash && isSame(state)) return state;
    }
    const state = this.hashes.push(hash) - 1;
    this.slots[slot] = state;
    if (this.hashes.length * 2 > this.slots.length) this.grow();
    return state;
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1);
    const mask = this.slots.length - 1;
    for (const [state, hash] of this.hashes.entries()) {
      let slot = scatter(hash) & mask;
      while (this.slots[slot]! >= 0) slot = (slot + 1) & mask;
      this.slots[slot] = state;
    }
  }
}

const { imul } = Math;

/** Mixes the bits of a number; i32. */
export function scatter(value: number): number {
  const mixed = imul(value ^ (value >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 15);
}
