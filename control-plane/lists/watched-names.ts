/**
 * Finds out which of a few names a list blocks, while the list is read and without keeping anything of it:
 * the guard asks so about the names that this network uses most. Plain names and their subdomains are
 * judged; patterns and regular expressions of a list are not.
 */
import { FOLD } from '../../shared/dns/name.ts';
import { RuleKind } from '../../shared/snapshot/rule-table.ts';

const BLOCK_NAME = RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX | RuleKind.IMPORTANT_BLOCK_SUFFIX;
const BLOCK_BELOW = RuleKind.BLOCK_SUFFIX | RuleKind.IMPORTANT_BLOCK_SUFFIX | RuleKind.BLOCK_BELOW;
const ALLOW_NAME = RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.IMPORTANT_ALLOW_SUFFIX;
const ALLOW_BELOW = RuleKind.ALLOW_SUFFIX | RuleKind.IMPORTANT_ALLOW_SUFFIX | RuleKind.ALLOW_BELOW;

/** Names that a rule at one name can reach. */
interface Reach {
  /** Index of the watched name that is this very name; -1 = none. */
  self: number;
  /** Indexes of the watched names below it. */
  readonly below: number[];
}

/** Give its `see` the rules of one list, then ask. */
export class WatchedNames {
  private readonly names: readonly string[];
  private readonly reaches = new Map<string, Reach>();
  /** Cheap first look: length and first two letters of all keys of `reaches`. */
  private readonly likely = new Uint8Array(65_536);
  private readonly blocks: Uint8Array;
  private readonly allows: Uint8Array;

  /** `names` in lower case, without final dots. */
  constructor(names: readonly string[]) {
    this.names = names;
    this.blocks = new Uint8Array(names.length);
    this.allows = new Uint8Array(names.length);
    for (const [index, name] of names.entries()) {
      this.reachOf(name).self = index;
      for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
        this.reachOf(name.slice(dot + 1)).below.push(index);
    }
  }

  /** Sees a rule as a `RuleSink` does. */
  see(bytes: Uint8Array, start: number, end: number, kinds: number): void {
    if (this.likely[likelihood(end - start, bytes[start]!, bytes[start + 1]!)] === 0) return;
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
      .toString('latin1')
      .toLowerCase();
    const reach = this.reaches.get(name);
    if (reach === undefined) return;
    if (reach.self >= 0) {
      if ((kinds & BLOCK_NAME) !== 0) this.blocks[reach.self] = 1;
      if ((kinds & ALLOW_NAME) !== 0) this.allows[reach.self] = 1;
    }
    for (const index of reach.below) {
      if ((kinds & BLOCK_BELOW) !== 0) this.blocks[index] = 1;
      if ((kinds & ALLOW_BELOW) !== 0) this.allows[index] = 1;
    }
  }

  /** The watched names that the list blocks and does not itself allow. */
  blocked(): string[] {
    return this.names.filter((_, index) => this.blocks[index] === 1 && this.allows[index] === 0);
  }

  private reachOf(name: string): Reach {
    let reach = this.reaches.get(name);
    if (reach === undefined) {
      reach = { self: -1, below: [] };
      this.reaches.set(name, reach);
      this.likely[likelihood(name.length, name.charCodeAt(0), name.charCodeAt(1))] = 1;
    }
    return reach;
  }
}

function likelihood(length: number, first: number, second: number): number {
  return ((length << 10) ^ (FOLD[first & 0xff]! << 5) ^ FOLD[second & 0xff]!) & 0xffff;
}
