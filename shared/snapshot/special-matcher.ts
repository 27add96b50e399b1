/**
 * Finds the special rules that meet a name. Rules that stand at a name are found by hash, as in the rule
 * table; patterns and expressions by a filter of three letters that each of their matches contains, so that
 * most names never meet an engine. Whether a rule counts (its source, the question's type, the client) is
 * for the caller to say. A look-up that meets nothing allocates nothing.
 */
import type { NameHash } from '../dns/name.ts';
import { hashName, nameFromText } from '../dns/name.ts';
import { longestPiece, matchesPattern, readNamePattern } from '../policy/name-pattern.ts';
import { requiredLiterals } from '../policy/regex-literals.ts';
import { type NameRegex, compileRegex } from '../policy/regex.ts';
import type { SpecialRule } from './special-rules.ts';

/** A name with the hashes of its parents, as `parse-query.ts` of the workers leaves it. */
export interface HashedName {
  readonly qname: Uint8Array;
  readonly qnameLength: number;
  readonly labelAt: Uint8Array;
  readonly labelCount: number;
  readonly hashLow: Int32Array;
  readonly hashHigh: Int32Array;
}

const DOT = 0x2e;
const GRAM = 3;
/** Bits of the filters. */
const FILTER_BITS = 65_536;

interface Candidate {
  readonly index: number;
  readonly literal: string;
}

/** Opened special rules; one a thread and buffer. */
export class SpecialMatcher {
  readonly rules: readonly SpecialRule[];
  private readonly seedLow: number;
  private readonly seedHigh: number;
  private readonly byName = new Map<number, number[]>();
  private readonly nameHighs: Int32Array;
  private readonly nameFilter = new Uint8Array(FILTER_BITS);
  private readonly byGram = new Map<number, Candidate[]>();
  private readonly gramFilter = new Uint8Array(FILTER_BITS);
  /** Rules without a literal that could spare the engine. */
  private readonly always: number[] = [];
  private readonly excluded: (ReadonlyMap<number, number> | undefined)[];
  /** Made at first use; null where the engine refuses. */
  private readonly tests: (((name: string) => boolean) | null | undefined)[];
  private readonly visited: Int32Array;
  private visit = 0;
  private readonly text = new Uint8Array(256);

  /** `seeds` are those that names are hashed with. */
  constructor(rules: readonly SpecialRule[], seedLow: number, seedHigh: number) {
    this.rules = rules;
    this.seedLow = seedLow;
    this.seedHigh = seedHigh;
    this.nameHighs = new Int32Array(rules.length);
    this.visited = new Int32Array(rules.length);
    this.tests = new Array<undefined>(rules.length).fill(undefined);
    this.excluded = rules.map((rule) => this.excludedNames(rule));
    for (const [index, rule] of rules.entries()) this.place(index, rule);
  }

  /** Calls `met(index)` for each rule that meets `name`, once. */
  forEachMatch(name: HashedName, met: (index: number) => void): void {
    if (this.rules.length === 0) return;
    if (this.byName.size > 0) this.matchNames(name, met);
    if (this.byGram.size > 0 || this.always.length > 0) this.matchTexts(name, met);
  }

  private matchNames(name: HashedName, met: (index: number) => void): void {
    const { hashLow, hashHigh, labelCount } = name;
    for (let label = labelCount - 1; label >= 0; label--) {
      const low = hashLow[label]!;
      if (this.nameFilter[low & (FILTER_BITS - 1)] === 0) continue;
      const found = this.byName.get(low);
      if (found === undefined) continue;
      for (const index of found) {
        if (this.nameHighs[index] !== hashHigh[label]) continue;
        const { match } = this.rules[index]!;
        if (label === 0 ? match === 'below' : match === 'exact') continue;
        if (!this.isExcluded(index, name)) met(index);
      }
    }
  }

  private matchTexts(name: HashedName, met: (index: number) => void): void {
    const length = this.writeText(name);
    const { text, gramFilter } = this;
    this.visit++;
    let asText: string | undefined;
    for (let at = 0; at + GRAM <= length; at++) {
      const gram = (text[at]! << 16) | (text[at + 1]! << 8) | text[at + 2]!;
      if (gramFilter[gramSlot(gram)] === 0) continue;
      const found = this.byGram.get(gram);
      if (found === undefined) continue;
      asText ??= Buffer.from(text.buffer, 0, length).toString('latin1');
      for (const { index, literal } of found) {
        if (this.visited[index] === this.visit || !asText.includes(literal)) continue;
        this.visited[index] = this.visit;
        if (this.testOf(index)?.(asText) === true && !this.isExcluded(index, name)) met(index);
      }
    }
    if (this.always.length === 0) return;
    const whole = asText ?? Buffer.from(text.buffer, 0, length).toString('latin1');
    for (const index of this.always)
      if (this.testOf(index)?.(whole) === true && !this.isExcluded(index, name)) met(index);
  }

  /** The name as text without a final dot; returns its length. */
  private writeText({ qname, qnameLength, labelAt, labelCount }: HashedName): number {
    const { text } = this;
    const length = qnameLength - 2;
    for (let at = 0; at < length; at++) text[at] = qname[at + 1]!;
    for (let label = 1; label < labelCount; label++) text[labelAt[label]! - 1] = DOT;
    return length > 0 ? length : 0;
  }

  private isExcluded(index: number, { hashLow, hashHigh, labelCount }: HashedName): boolean {
    const names = this.excluded[index];
    if (names === undefined) return false;
    for (let label = 0; label < labelCount; label++)
      if (names.get(hashLow[label]!) === hashHigh[label]) return true;
    return false;
  }

  private testOf(index: number): ((name: string) => boolean) | null {
    let test = this.tests[index];
    if (test === undefined) {
      test = testFor(this.rules[index]!);
      this.tests[index] = test;
    }
    return test;
  }

  private place(index: number, rule: SpecialRule): void {
    if (rule.match === 'pattern' || rule.match === 'regex') {
      this.placeText(index, rule);
      return;
    }
    const hash = this.hashOf(rule.text);
    if (hash === null) return;
    this.nameHighs[index] = hash.high;
    this.nameFilter[hash.low & (FILTER_BITS - 1)] = 1;
    const others = this.byName.get(hash.low);
    if (others === undefined) this.byName.set(hash.low, [index]);
    else others.push(index);
  }

  private placeText(index: number, rule: SpecialRule): void {
    const literals = literalsOf(rule);
    if (literals === null || literals.some((literal) => literal.length < GRAM)) {
      this.always.push(index);
      return;
    }
    for (const literal of literals) {
      const gram = this.rarestGram(literal);
      this.gramFilter[gramSlot(gram)] = 1;
      const others = this.byGram.get(gram);
      if (others === undefined) this.byGram.set(gram, [{ index, literal }]);
      else others.push({ index, literal });
    }
  }

  /** The three letters of `literal` that the fewest rules were placed under; those of common names count more. */
  private rarestGram(literal: string): number {
    let best = 0;
    let fewest = Infinity;
    for (let at = 0; at + GRAM <= literal.length; at++) {
      const gram =
        (literal.charCodeAt(at) << 16) | (literal.charCodeAt(at + 1) << 8) | literal.charCodeAt(at + 2);
      const common = COMMON_GRAMS.has(literal.slice(at, at + GRAM)) ? 1000 : 0;
      const count = common + (this.byGram.get(gram)?.length ?? 0);
      if (count >= fewest) continue;
      best = gram;
      fewest = count;
    }
    return best;
  }

  private excludedNames(rule: SpecialRule): ReadonlyMap<number, number> | undefined {
    if (rule.denyallow === undefined) return undefined;
    const names = new Map<number, number>();
    for (const name of rule.denyallow) {
      const hash = this.hashOf(name);
      if (hash !== null) names.set(hash.low, hash.high);
    }
    return names;
  }

  private hashOf(name: string): NameHash | null {
    const wire = nameFromText(name);
    if (wire === null) return null;
    const hash = { low: 0, high: 0 };
    hashName(wire, 0, this.seedLow, this.seedHigh, hash);
    return hash;
  }
}

/** Parts that a large share of all names have. */
const COMMON_GRAMS: ReadonlySet<string> = new Set([
  'www',
  'ww.',
  'w.g',
  '.co',
  'com',
  '.ne',
  'net',
  '.or',
  'org',
  'ing',
  'api',
]);

function gramSlot(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> 16;
}

function literalsOf({ match, text }: SpecialRule): readonly string[] | null {
  if (match === 'regex') return requiredLiterals(text);
  const pattern = readNamePattern(text);
  return typeof pattern === 'string' ? null : [longestPiece(pattern)];
}

function testFor({ match, text }: SpecialRule): ((name: string) => boolean) | null {
  if (match === 'regex') {
    const outcome = compileRegex(text);
    const regex: NameRegex | null = outcome.ok ? outcome.regex : null;
    return regex === null ? null : (name) => regex.matches(name);
  }
  const pattern = readNamePattern(text);
  return typeof pattern === 'string' ? null : (name) => matchesPattern(pattern, name);
}
