/**
 * Puts special rules into one buffer with an index over it (`SpecialRulesLayout`), so that the threads that
 * match them have nothing to build: names by hash, patterns and expressions by three letters of a literal
 * that each of their matches contains, and apart from them those that are for addresses.
 */
import { type NameHash, hashName, nameFromText } from '../../shared/dns/name.ts';
import { isAddressExpression, isAddressName, isAddressPattern } from '../../shared/policy/address-rule.ts';
import { longestPiece, readNamePattern } from '../../shared/policy/name-pattern.ts';
import { requiredLiterals } from '../../shared/policy/regex-literals.ts';
import {
  LAYOUT_VERSION,
  SPECIAL_RULES_MAGIC,
  SpecialRulesLayout as L,
  checksumWords,
} from '../../shared/snapshot/layout.ts';
import { GRAM, gramAt, gramSlot } from '../../shared/snapshot/special-matcher.ts';
import { MATCH_CODES, type SpecialRule } from '../../shared/snapshot/special-rules.ts';
import type { TableSeeds } from './rule-table-builder.ts';

/** Three-letter slots for each literal, and fewest and most of them. */
const SLOTS_PER_LITERAL = 16;
const MIN_GRAM_SLOTS = 1024;
const MAX_GRAM_SLOTS = 65_536;

/** Parts that a large share of all names have. */
const COMMON_GRAMS: readonly string[] = [
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
];
const COMMON_PENALTY = 1000;

interface Candidate {
  readonly gram: number;
  readonly gramOffset: number;
  readonly index: number;
  readonly literal: Buffer;
}

/** Puts rules into a buffer of their own; `seeds` are those that names are hashed with. */
export function buildSpecialRules(rules: readonly SpecialRule[], seeds: TableSeeds): SharedArrayBuffer {
  const index = new SpecialRuleIndex(rules, seeds);
  const texts = rules.map((rule) => Buffer.from(JSON.stringify(rule)));
  const sections = [
    [L.OFFSETS_WORD, new Int32Array(rules.length + 1)],
    [L.NAMES_WORD, index.names()],
    ...index.grams(),
    [L.ALWAYS_WORD, Int32Array.from(index.always)],
    [L.ADDRESS_WORD, Int32Array.from(index.addressTexts)],
  ] as const;
  const header = new Int32Array(L.HEADER_WORDS);
  let wordCount: number = L.HEADER_WORDS;
  for (const [word, section] of sections) {
    header[word] = wordCount;
    wordCount += section.length;
  }
  const literals = index.literals;
  const textBytes = texts.reduce((sum, text) => sum + text.length, 0);
  const byteCount = wordCount * 4 + textBytes + literals.length;
  const buffer = new SharedArrayBuffer((byteCount + 3) & ~3);
  const words = new Int32Array(buffer);
  const bytes = new Uint8Array(buffer);
  for (const [word, section] of sections) words.set(section, header[word]);
  let at = wordCount * 4;
  for (const [rule, text] of texts.entries()) {
    words[header[L.OFFSETS_WORD]! + rule] = at;
    bytes.set(text, at);
    at += text.length;
  }
  words[header[L.OFFSETS_WORD]! + rules.length] = at;
  bytes.set(literals, at);
  for (let candidate = 0; candidate < index.candidateCount; candidate++)
    words[header[L.CANDIDATES_WORD]! + candidate * L.CANDIDATE_WORDS + 2]! += at;
  header[L.MAGIC_WORD] = SPECIAL_RULES_MAGIC;
  header[L.VERSION_WORD] = LAYOUT_VERSION;
  header[L.RULE_COUNT_WORD] = rules.length;
  header[L.TEXT_RULE_COUNT_WORD] = index.textRules;
  header[L.ADDRESS_RULE_COUNT_WORD] = index.addressRules;
  header[L.NAME_SLOTS_WORD] = index.nameSlots;
  header[L.GRAM_SLOTS_WORD] = index.gramSlots;
  header[L.ALWAYS_COUNT_WORD] = index.always.length;
  header[L.ADDRESS_COUNT_WORD] = index.addressTexts.length;
  words.set(header);
  words[L.CHECKSUM_WORD] = checksumWords(new Uint32Array(buffer), L.CHECKSUM_WORD + 1);
  return buffer;
}

/** Collects where each rule is to be found. */
class SpecialRuleIndex {
  readonly always: number[] = [];
  readonly addressTexts: number[] = [];
  addressRules = 0;
  textRules = 0;
  nameSlots = 0;
  gramSlots = 0;
  literals: Buffer = Buffer.alloc(0);
  private readonly seeds: TableSeeds;
  private readonly placed: { readonly hash: NameHash; readonly index: number; readonly code: number }[] = [];
  private readonly candidates: Candidate[] = [];
  /** Rules under each three letters; those of common names count more. */
  private readonly load = new Map<number, number>(
    COMMON_GRAMS.map((text) => [gramAt(Buffer.from(text), 0), COMMON_PENALTY]),
  );

  constructor(rules: readonly SpecialRule[], seeds: TableSeeds) {
    this.seeds = seeds;
    for (const [index, rule] of rules.entries()) this.place(index, rule);
  }

  get candidateCount(): number {
    return this.candidates.length;
  }

  /** The section of names: half full at most. */
  names(): Int32Array {
    const { placed } = this;
    this.nameSlots = placed.length === 0 ? 0 : powerOfTwo(placed.length * 2);
    const words = new Int32Array(this.nameSlots * L.NAME_SLOT_WORDS);
    for (const { hash, index, code } of placed) {
      let slot = hash.low & (this.nameSlots - 1);
      while (words[slot * L.NAME_SLOT_WORDS + 2] !== 0) slot = (slot + 1) & (this.nameSlots - 1);
      words.set([hash.low, hash.high, index + 1, code], slot * L.NAME_SLOT_WORDS);
    }
    return words;
  }

  /** The sections of grams and candidates; offsets of literals count from the first one. */
  grams(): (readonly [number, Int32Array])[] {
    const { candidates } = this;
    this.gramSlots =
      candidates.length === 0
        ? 0
        : Math.min(
            MAX_GRAM_SLOTS,
            Math.max(MIN_GRAM_SLOTS, powerOfTwo(candidates.length * SLOTS_PER_LITERAL)),
          );
    const { gramSlots } = this;
    const slotOf = ({ gram }: Candidate): number => gramSlot(gram, gramSlots);
    candidates.sort((a, b) => slotOf(a) - slotOf(b) || a.index - b.index);
    const starts = new Int32Array(gramSlots === 0 ? 0 : gramSlots + 1);
    for (const candidate of candidates) starts[slotOf(candidate) + 1]!++;
    for (let slot = 0; slot < gramSlots; slot++) starts[slot + 1]! += starts[slot]!;
    const words = new Int32Array(candidates.length * L.CANDIDATE_WORDS);
    let literalAt = 0;
    for (const [at, { gram, gramOffset, index, literal }] of candidates.entries()) {
      words.set([gram, index, literalAt, (literal.length << 16) | gramOffset], at * L.CANDIDATE_WORDS);
      literalAt += literal.length;
    }
    this.literals = Buffer.concat(candidates.map(({ literal }) => literal));
    return [
      [L.GRAMS_WORD, starts],
      [L.CANDIDATES_WORD, words],
    ];
  }

  private place(index: number, rule: SpecialRule): void {
    if (rule.match === 'pattern' || rule.match === 'regex') {
      this.placeText(index, rule);
      return;
    }
    const wire = nameFromText(rule.text);
    if (wire === null) return;
    if (isAddressName(rule.text)) this.addressRules++;
    const hash = { low: 0, high: 0 };
    hashName(wire, 0, this.seeds.low, this.seeds.high, hash);
    this.placed.push({ hash, index, code: MATCH_CODES[rule.match] });
  }

  private placeText(index: number, rule: SpecialRule): void {
    this.textRules++;
    const isForAddresses =
      rule.match === 'regex' ? isAddressExpression(rule.text) : isAddressPattern(rule.text);
    if (isForAddresses) {
      this.addressRules++;
      this.addressTexts.push(index);
    }
    const literals = literalsOf(rule);
    if (literals === null || literals.some((literal) => literal.length < GRAM)) {
      this.always.push(index);
      return;
    }
    for (const text of literals) {
      const literal = Buffer.from(text, 'latin1');
      const gramOffset = this.rarestGram(literal);
      const gram = gramAt(literal, gramOffset);
      this.load.set(gram, (this.load.get(gram) ?? 0) + 1);
      this.candidates.push({ gram, gramOffset, index, literal });
    }
  }

  /** Where in `literal` the three letters lie that the fewest rules were placed under. */
  private rarestGram(literal: Buffer): number {
    let best = 0;
    let fewest = Infinity;
    for (let at = 0; at + GRAM <= literal.length; at++) {
      const count = this.load.get(gramAt(literal, at)) ?? 0;
      if (count >= fewest) continue;
      best = at;
      fewest = count;
    }
    return best;
  }
}

function literalsOf({ match, text }: SpecialRule): readonly string[] | null {
  if (match === 'regex') return requiredLiterals(text);
  const pattern = readNamePattern(text);
  return typeof pattern === 'string' ? null : [longestPiece(pattern)];
}

function powerOfTwo(least: number): number {
  return 2 ** Math.ceil(Math.log2(least));
}
