/**
 * Finds the special rules that match a name or an address. Rules with a name are found by hash, as in the rule table;
 * patterns and regular expressions are found by three letters that each of their matches contains, so most of them are
 * not tried for a name. Rules without such letters are found by automata, which read every name. Rules of sources that
 * are inactive for the group cost nothing; the caller checks the conditions of rules (the question's type, the client).
 * Opening a buffer builds nothing: a rule is parsed at its first match. A lookup without a match allocates nothing.
 */
import { hashName, nameFromText } from '../dns/name.ts';
import { type NamePattern, matchesPattern, readNamePattern } from '../policy/name-pattern.ts';
import { AutomatonReader } from './automaton-reader.ts';
import { SpecialRulesLayout as L } from './layout.ts';
import {
  MatchCode,
  type RewriteAnswer,
  type SpecialRule,
  openSpecialRules,
  readSpecialRule,
} from './special-rules.ts';

/** A name with the hashes of its parents, in the form of the workers' `parse-query.ts`. */
export interface HashedName {
  readonly qname: Uint8Array;
  readonly qnameLength: number;
  readonly labelAt: Uint8Array;
  readonly labelCount: number;
  readonly hashLow: Int32Array;
  readonly hashHigh: Int32Array;
}

const DOT = 0x2e;
/** Number of letters by which patterns and regular expressions are found. */
export const GRAM = 3;
const GRAM_FACTOR = 0x9e3779b1;

/** The three letters at `at` as one number. */
export function gramAt(text: Uint8Array, at: number): number {
  return (text[at]! << 16) | (text[at + 1]! << 8) | text[at + 2]!;
}

/** Slot of three letters among `slots`, a power of two up to 65,536. */
export function gramSlot(gram: number, slots: number): number {
  return (Math.imul(gram, GRAM_FACTOR) >>> 16) & (slots - 1);
}

/** The answer of a rule that rewrites a name, in the form that a DNS answer needs. */
export interface OpenRewrite {
  readonly rcode: number;
  /** Type and RDATA of the record in the answer; 0 and empty = none. */
  readonly type: number;
  readonly rdata: Uint8Array;
  /** Target of an alias, in lower-case wire form; null = no alias. */
  readonly host: Uint8Array | null;
}

/** A parsed rule. */
interface OpenRule {
  readonly rule: SpecialRule;
  /** Names to which the rule does not apply: low lane to high lane. */
  readonly excluded: ReadonlyMap<number, number> | undefined;
  readonly pattern: NamePattern | null;
  readonly rewrite: OpenRewrite | null;
}

/** Special rules of one buffer; one per thread and buffer. */
export class SpecialMatcher {
  readonly ruleCount: number;
  /** Number of rules that can match an address. */
  readonly addressRuleCount: number;
  private readonly buffer: SharedArrayBuffer;
  private readonly words: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly seedLow: number;
  private readonly seedHigh: number;
  private readonly nameSlots: number;
  private readonly namesAt: number;
  private readonly rulesAt: number;
  private readonly automata: AutomatonReader;
  private readonly gramSlots: number;
  private readonly gramsAt: number;
  private readonly candidatesAt: number;
  private readonly alwaysAt: number;
  private readonly alwaysEnd: number;
  private readonly addressAt: number;
  private readonly addressEnd: number;
  private readonly opened = new Map<number, OpenRule>();
  private readonly visited: Int32Array;
  private visit = 0;
  private readonly text = new Uint8Array(256);
  private textLength = 0;

  /**
   * `seedLow` and `seedHigh` are the seeds of the names' hashes. Throws a RangeError if `buffer` has another layout.
   */
  constructor(buffer: SharedArrayBuffer, seedLow: number, seedHigh: number) {
    const words = openSpecialRules(buffer);
    this.buffer = buffer;
    this.words = words;
    this.bytes = new Uint8Array(buffer, 0, buffer.byteLength);
    this.seedLow = seedLow;
    this.seedHigh = seedHigh;
    this.ruleCount = words[L.RULE_COUNT_WORD]!;
    this.addressRuleCount = words[L.ADDRESS_RULE_COUNT_WORD]!;
    this.nameSlots = words[L.NAME_SLOTS_WORD]!;
    this.namesAt = words[L.NAMES_WORD]!;
    this.rulesAt = words[L.RULES_WORD]!;
    this.automata = new AutomatonReader(buffer);
    this.gramSlots = words[L.GRAM_SLOTS_WORD]!;
    this.gramsAt = words[L.GRAMS_WORD]!;
    this.candidatesAt = words[L.CANDIDATES_WORD]!;
    this.alwaysAt = words[L.ALWAYS_WORD]!;
    this.alwaysEnd = this.alwaysAt + words[L.ALWAYS_COUNT_WORD]!;
    this.addressAt = words[L.ADDRESS_WORD]!;
    this.addressEnd = this.addressAt + words[L.ADDRESS_COUNT_WORD]!;
    this.visited = new Int32Array(words[L.TEXT_RULE_COUNT_WORD] === 0 ? 0 : this.ruleCount);
  }

  /** The rule at `index`. */
  rule(index: number): SpecialRule {
    return this.open(index).rule;
  }

  /** The rule's own answer (`$dnsrewrite`); null = none. */
  rewrite(index: number): OpenRewrite | null {
    return this.open(index).rewrite;
  }

  /** Calls `met(index)` once for each rule that matches `name`. Ignores rules of sources with `counts[index] !== 1`. */
  forEachMatch(name: HashedName, counts: Uint8Array, met: (index: number) => void): void {
    if (this.nameSlots > 0) this.matchNames(name, counts, met);
    if (this.gramSlots === 0 && this.alwaysAt === this.alwaysEnd) return;
    this.writeText(name);
    if (this.gramSlots > 0) this.matchLiterals(name, counts, met);
    this.readWith(this.alwaysAt, this.alwaysEnd, name, counts, met);
  }

  /**
   * Same as `forEachMatch` for an address, written as a name: only patterns and regular expressions that are meant for
   * addresses apply.
   */
  forEachAddressMatch(address: HashedName, counts: Uint8Array, met: (index: number) => void): void {
    if (this.addressRuleCount === 0) return;
    if (this.nameSlots > 0) this.matchNames(address, counts, met);
    if (this.addressAt === this.addressEnd) return;
    this.writeText(address);
    this.readWith(this.addressAt, this.addressEnd, address, counts, met);
  }

  private matchNames(name: HashedName, counts: Uint8Array, met: (index: number) => void): void {
    const { words, namesAt, nameSlots } = this;
    const { hashLow, hashHigh, labelCount } = name;
    for (let label = labelCount - 1; label >= 0; label--) {
      const low = hashLow[label]!;
      for (let slot = low & (nameSlots - 1); ; slot = (slot + 1) & (nameSlots - 1)) {
        const at = namesAt + slot * L.NAME_SLOT_WORDS;
        const index = words[at + 2]! - 1;
        if (index < 0) break;
        if (words[at] !== low || words[at + 1] !== hashHigh[label]) continue;
        const code = words[at + 3]!;
        if (label === 0 ? code === MatchCode.below : code === MatchCode.exact) continue;
        if (counts[this.sourceOf(index)] === 1 && !this.isExcluded(index, name)) met(index);
      }
    }
  }

  /** Matches patterns and regular expressions of which a literal occurs in the text. */
  private matchLiterals(name: HashedName, counts: Uint8Array, met: (index: number) => void): void {
    const { text, textLength: length, words, gramsAt, gramSlots } = this;
    this.visit++;
    let asText: string | undefined;
    for (let at = 0; at + GRAM <= length; at++) {
      const gram = gramAt(text, at);
      const slot = gramsAt + gramSlot(gram, gramSlots);
      const end = words[slot + 1]!;
      for (let candidate = words[slot]!; candidate < end; candidate++) {
        const index = this.indexAt(candidate, gram, at, length);
        if (index < 0 || this.visited[index] === this.visit) continue;
        this.visited[index] = this.visit;
        if (counts[this.sourceOf(index)] !== 1) continue;
        const automaton = words[this.rulesAt + index * L.RULE_WORDS + L.RULE_AUTOMATON]!;
        if (automaton !== 0) {
          if (this.automata.find(automaton, text, length) === 0) continue;
        } else {
          const { pattern } = this.open(index);
          asText ??= Buffer.from(text.buffer, 0, length).toString('latin1');
          if (pattern === null || !matchesPattern(pattern, asText)) continue;
        }
        if (!this.isExcluded(index, name)) met(index);
      }
    }
  }

  /** Matches the text against the automata to which the words from `from` up to, but excluding, `end` refer. */
  private readWith(
    from: number,
    end: number,
    name: HashedName,
    counts: Uint8Array,
    met: (index: number) => void,
  ): void {
    const { automata, text, textLength, words } = this;
    for (let at = from; at < end; at++) {
      const automaton = words[at]!;
      if (counts[automata.sourceOf(automaton)] !== 1) continue;
      for (let found = automata.find(automaton, text, textLength); found !== 0; found &= found - 1) {
        const index = automata.ruleAt(automaton, 31 - Math.clz32(found & -found));
        if (!this.isExcluded(index, name)) met(index);
      }
    }
  }

  private sourceOf(index: number): number {
    return this.words[this.rulesAt + index * L.RULE_WORDS + L.RULE_SOURCE]!;
  }

  /** The rule of a candidate if its literal occurs in the text, with its three letters at `at`; -1 if it does not. */
  private indexAt(candidate: number, gram: number, at: number, length: number): number {
    const { words, bytes, text } = this;
    const entry = this.candidatesAt + candidate * L.CANDIDATE_WORDS;
    if (words[entry] !== gram) return -1;
    const packed = words[entry + 3]!;
    const literalLength = packed >>> 16;
    const start = at - (packed & 0xffff);
    if (start < 0 || start + literalLength > length) return -1;
    const literalAt = words[entry + 2]!;
    for (let i = 0; i < literalLength; i++) if (text[start + i] !== bytes[literalAt + i]) return -1;
    return words[entry + 1]!;
  }

  /** Writes the name as text without a final dot into `text`. */
  private writeText({ qname, qnameLength, labelAt, labelCount }: HashedName): void {
    const { text } = this;
    const length = qnameLength - 2;
    for (let at = 0; at < length; at++) text[at] = qname[at + 1]!;
    for (let label = 1; label < labelCount; label++) text[labelAt[label]! - 1] = DOT;
    this.textLength = length > 0 ? length : 0;
  }

  private isExcluded(index: number, { hashLow, hashHigh, labelCount }: HashedName): boolean {
    const { excluded } = this.open(index);
    if (excluded === undefined) return false;
    for (let label = 0; label < labelCount; label++)
      if (excluded.get(hashLow[label]!) === hashHigh[label]) return true;
    return false;
  }

  private open(index: number): OpenRule {
    let opened = this.opened.get(index);
    if (opened === undefined) {
      const rule = readSpecialRule(this.buffer, index);
      if (rule === undefined)
        throw new RangeError(`could not read special rule ${index}: there are ${this.ruleCount}`);
      opened = {
        rule,
        excluded: this.excludedNames(rule),
        pattern: patternOf(rule),
        rewrite: openRewrite(rule.rewrite),
      };
      this.opened.set(index, opened);
    }
    return opened;
  }

  private excludedNames(rule: SpecialRule): ReadonlyMap<number, number> | undefined {
    if (rule.denyallow === undefined) return undefined;
    const names = new Map<number, number>();
    for (const name of rule.denyallow) {
      const wire = nameFromText(name);
      if (wire === null) continue;
      const hash = { low: 0, high: 0 };
      hashName(wire, 0, this.seedLow, this.seedHigh, hash);
      names.set(hash.low, hash.high);
    }
    return names;
  }
}

function patternOf({ match, text }: SpecialRule): NamePattern | null {
  const pattern = match === 'pattern' ? readNamePattern(text) : '';
  return typeof pattern === 'string' ? null : pattern;
}

function openRewrite(rewrite: RewriteAnswer | undefined): OpenRewrite | null {
  if (rewrite === undefined) return null;
  const { rcode, host, record } = rewrite;
  return {
    rcode,
    type: record?.type ?? 0,
    rdata: Buffer.from(record?.rdata ?? '', 'hex'),
    host: host === undefined ? null : nameFromText(host),
  };
}
