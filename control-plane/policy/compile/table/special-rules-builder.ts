/** Encodes special rules and their index in one buffer, in the format of `SpecialRulesLayout`. */
import { type NameHash, hashName, nameFromText } from '../../../../shared/dns/name.ts';
import type { AutomatonPacker } from '../../../../shared/automata/automaton-packer.ts';
import {
  LAYOUT_VERSION,
  SPECIAL_RULES_MAGIC,
  SpecialRulesLayout as L,
  checksumWords,
} from '../../../../shared/snapshot/layout.ts';
import { gramSlot } from '../../../../shared/snapshot/special-matcher.ts';
import { MatchCode, openSpecialRules, type SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import { encodeAutomaton } from './automaton-encoder.ts';
import type { GramPlace } from './gram-index.ts';
import type { TableSeeds } from './rule-table-builder.ts';
import { type PlacedRule, SpecialRuleSet } from './special-rule-set.ts';

/** Number of gram slots per literal, and minimum and maximum of the total number. */
const SLOTS_PER_LITERAL = 16;
const MIN_GRAM_SLOTS = 1024;
const MAX_GRAM_SLOTS = 65_536;
/** Offset of the word in a candidate that contains the byte offset of its literal. */
const LITERAL_AT = 2;

/** Encodes rules, silently omitting rules that exceed the budget of a list. */
export function buildSpecialRules(rules: readonly SpecialRule[], seeds: TableSeeds): SharedArrayBuffer {
  const set = new SpecialRuleSet();
  for (const rule of rules) set.add(rule);
  return encodeSpecialRules(set, seeds);
}

/**
 * Encodes the rules of a set; `finish` may replace a rule, or omit it by returning null. `seeds` are the seeds of the
 * names' hashes.
 */
export function encodeSpecialRules(
  set: SpecialRuleSet,
  seeds: TableSeeds,
  finish: (rule: SpecialRule) => SpecialRule | null = (rule) => rule,
): SharedArrayBuffer {
  const placed: PlacedRule[] = [];
  const indexes = set.placed.map((own) => {
    const rule = finish(own.rule);
    return rule === null ? -1 : placed.push({ ...own, rule }) - 1;
  });
  return new SpecialRulesEncoder(placed).encode(
    automataOf(set.nameAutomata(), indexes),
    automataOf(set.addressAutomata(), indexes),
    seeds,
  );
}

/** A copy with other line numbers for some rules, which are given by index. */
export function withRuleLines(
  buffer: SharedArrayBuffer,
  lines: ReadonlyMap<number, number>,
): SharedArrayBuffer {
  const before = openSpecialRules(buffer);
  const count = before[L.RULE_COUNT_WORD]!;
  const offsetsAt = before[L.OFFSETS_WORD]!;
  const textsAt = before[offsetsAt]!;
  const literalsAt = before[offsetsAt + count]!;
  const literals = Buffer.from(buffer, literalsAt);
  const texts = Array.from({ length: count }, (_, index) => {
    const [start, end] = [before[offsetsAt + index]!, before[offsetsAt + index + 1]!];
    const line = lines.get(index);
    const text = Buffer.from(buffer, start, end - start);
    if (line === undefined) return text;
    return Buffer.from(JSON.stringify({ ...(JSON.parse(text.toString('utf8')) as SpecialRule), line }));
  });
  const textBytes = lengthOf(texts);
  const after = new SharedArrayBuffer((textsAt + textBytes + literals.length + 3) & ~3);
  const words = new Int32Array(after);
  words.set(before.subarray(0, textsAt >>> 2));
  new Uint8Array(after).set(Buffer.concat([...texts, literals]), textsAt);
  let at = textsAt;
  for (const [index, { length }] of texts.entries()) {
    words[offsetsAt + index] = at;
    at += length;
  }
  words[offsetsAt + count] = at;
  const gramSlots = words[L.GRAM_SLOTS_WORD]!;
  const candidates = gramSlots === 0 ? 0 : words[words[L.GRAMS_WORD]! + gramSlots]!;
  for (let candidate = 0; candidate < candidates; candidate++)
    words[words[L.CANDIDATES_WORD]! + candidate * L.CANDIDATE_WORDS + LITERAL_AT]! += at - literalsAt;
  words[L.CHECKSUM_WORD] = checksumWords(new Uint32Array(after), L.CHECKSUM_WORD + 1);
  return after;
}

/** Indexes of the rules of a source, in the order of its lines. */
export function rulesOfSource(buffer: SharedArrayBuffer, source: number): number[] {
  const words = openSpecialRules(buffer);
  const found: number[] = [];
  for (let index = 0; index < words[L.RULE_COUNT_WORD]!; index++)
    if (words[words[L.RULES_WORD]! + index * L.RULE_WORDS + L.RULE_SOURCE] === source) found.push(index);
  return found;
}

function automataOf(packers: Iterable<[number, AutomatonPacker]>, indexes: readonly number[]): Int32Array[] {
  const encoded: Int32Array[] = [];
  const indexOf = (rule: number): number => indexes[rule] ?? -1;
  for (const [source, { automata }] of packers)
    for (const packed of automata)
      if (packed.rules.some((rule) => indexOf(rule) >= 0))
        encoded.push(encodeAutomaton({ ...packed, source }, indexOf));
  return encoded;
}

/** A literal of a rule, and the gram by which the rule is found. */
interface Candidate extends GramPlace {
  readonly index: number;
}

/** Writes the sections one after another after the header; their sizes are known in advance. */
class SpecialRulesEncoder {
  private readonly placed: readonly PlacedRule[];
  private readonly texts: readonly Buffer[];
  private readonly candidates: readonly Candidate[];
  private readonly gramSlots: number;
  private readonly nameSlots: number;
  private readonly header = new Int32Array(L.HEADER_WORDS);
  private wordCount: number = L.HEADER_WORDS;
  private words!: Int32Array;
  private bytes!: Uint8Array;
  private automatonAt = 0;

  constructor(placed: readonly PlacedRule[]) {
    this.placed = placed;
    this.texts = placed.map(({ rule }) => Buffer.from(JSON.stringify(rule)));
    this.candidates = placed.flatMap(({ place }, index) =>
      place.at === 'literals' ? place.grams.map((gram) => ({ ...gram, index })) : [],
    );
    this.nameSlots = slotsFor(placed.filter(({ place }) => place.at === 'name').length * 2);
    this.gramSlots =
      this.candidates.length === 0
        ? 0
        : Math.min(
            MAX_GRAM_SLOTS,
            Math.max(MIN_GRAM_SLOTS, slotsFor(this.candidates.length * SLOTS_PER_LITERAL)),
          );
  }

  encode(
    nameAutomata: readonly Int32Array[],
    addressAutomata: readonly Int32Array[],
    seeds: TableSeeds,
  ): SharedArrayBuffer {
    const { placed, texts, candidates, header } = this;
    const own = placed.map(ownAutomaton);
    const automata = [...nameAutomata, ...addressAutomata, ...own.filter((automaton) => automaton !== null)];
    this.section(L.OFFSETS_WORD, placed.length + 1);
    this.section(L.RULES_WORD, placed.length * L.RULE_WORDS);
    this.section(L.NAMES_WORD, this.nameSlots * L.NAME_SLOT_WORDS);
    this.section(L.GRAMS_WORD, this.gramSlots === 0 ? 0 : this.gramSlots + 1);
    this.section(L.CANDIDATES_WORD, candidates.length * L.CANDIDATE_WORDS);
    this.section(L.ALWAYS_WORD, nameAutomata.length);
    this.section(L.ADDRESS_WORD, addressAutomata.length);
    this.section(L.AUTOMATA_WORD, lengthOf(automata));
    const byteCount =
      this.wordCount * 4 + lengthOf(texts) + lengthOf(candidates.map(({ literal }) => literal));
    const buffer = new SharedArrayBuffer((byteCount + 3) & ~3);
    this.words = new Int32Array(buffer);
    this.bytes = new Uint8Array(buffer);
    this.automatonAt = header[L.AUTOMATA_WORD]!;
    this.writeList(L.ALWAYS_WORD, nameAutomata);
    this.writeList(L.ADDRESS_WORD, addressAutomata);
    this.writeRules(own);
    this.writeNames(seeds);
    this.writeCandidates(this.writeTexts());
    this.writeHeader(nameAutomata.length, addressAutomata.length);
    return buffer;
  }

  private section(word: number, length: number): void {
    this.header[word] = this.wordCount;
    this.wordCount += length;
  }

  private writeHeader(always: number, address: number): void {
    const { placed, header } = this;
    header[L.MAGIC_WORD] = SPECIAL_RULES_MAGIC;
    header[L.VERSION_WORD] = LAYOUT_VERSION;
    header[L.RULE_COUNT_WORD] = placed.length;
    header[L.TEXT_RULE_COUNT_WORD] = placed.filter(({ rule }) => isText(rule)).length;
    header[L.ADDRESS_RULE_COUNT_WORD] = placed.filter(({ isForAddresses }) => isForAddresses).length;
    header[L.NAME_SLOTS_WORD] = this.nameSlots;
    header[L.GRAM_SLOTS_WORD] = this.gramSlots;
    header[L.ALWAYS_COUNT_WORD] = always;
    header[L.ADDRESS_COUNT_WORD] = address;
    this.words.set(header);
    const unsigned = new Uint32Array(this.words.buffer);
    this.words[L.CHECKSUM_WORD] = checksumWords(unsigned, L.CHECKSUM_WORD + 1);
  }

  private writeList(word: number, automata: readonly Int32Array[]): void {
    for (const [number, automaton] of automata.entries())
      this.words[this.header[word]! + number] = this.writeAutomaton(automaton);
  }

  /** Writes an automaton; returns the word at which it starts. */
  private writeAutomaton(automaton: Int32Array): number {
    const at = this.automatonAt;
    this.words.set(automaton, at);
    this.automatonAt += automaton.length;
    return at;
  }

  private writeRules(own: readonly (Int32Array | null)[]): void {
    for (const [index, { rule }] of this.placed.entries()) {
      const at = this.header[L.RULES_WORD]! + index * L.RULE_WORDS;
      const automaton = own[index] ?? null;
      this.words[at + L.RULE_SOURCE] = rule.source;
      this.words[at + L.RULE_AUTOMATON] = automaton === null ? 0 : this.writeAutomaton(automaton);
    }
  }

  /** Writes the hash table of names, which is at most half full. */
  private writeNames(seeds: TableSeeds): void {
    const { words, nameSlots } = this;
    const namesAt = this.header[L.NAMES_WORD]!;
    const hash: NameHash = { low: 0, high: 0 };
    for (const [index, { rule, place }] of this.placed.entries()) {
      if (place.at !== 'name') continue;
      hashName(nameFromText(rule.text)!, 0, seeds.low, seeds.high, hash);
      let slot = hash.low & (nameSlots - 1);
      while (words[namesAt + slot * L.NAME_SLOT_WORDS + 2] !== 0) slot = (slot + 1) & (nameSlots - 1);
      const code = MatchCode[rule.match as keyof typeof MatchCode];
      words.set([hash.low, hash.high, index + 1, code], namesAt + slot * L.NAME_SLOT_WORDS);
    }
  }

  /** Writes the texts; returns the byte after them. */
  private writeTexts(): number {
    const offsetsAt = this.header[L.OFFSETS_WORD]!;
    let at = this.wordCount * 4;
    for (const [rule, text] of this.texts.entries()) {
      this.words[offsetsAt + rule] = at;
      this.bytes.set(text, at);
      at += text.length;
    }
    this.words[offsetsAt + this.texts.length] = at;
    return at;
  }

  /** Writes the candidates, grouped by slot, and their literals from byte `literalsAt` on. */
  private writeCandidates(literalsAt: number): void {
    const { words, gramSlots } = this;
    const slotOf = ({ gram }: Candidate): number => gramSlot(gram, gramSlots);
    const candidates = [...this.candidates].sort((a, b) => slotOf(a) - slotOf(b) || a.index - b.index);
    const gramsAt = this.header[L.GRAMS_WORD]!;
    for (const candidate of candidates) words[gramsAt + slotOf(candidate) + 1]!++;
    for (let slot = 0; slot < gramSlots; slot++) words[gramsAt + slot + 1]! += words[gramsAt + slot]!;
    let at = this.header[L.CANDIDATES_WORD]!;
    let literalAt = literalsAt;
    for (const { gram, gramOffset, index, literal } of candidates) {
      words.set([gram, index, literalAt, (literal.length << 16) | gramOffset], at);
      this.bytes.set(literal, literalAt);
      at += L.CANDIDATE_WORDS;
      literalAt += literal.length;
    }
  }
}

function ownAutomaton({ rule: { source }, place }: PlacedRule, index: number): Int32Array | null {
  if (place.at !== 'literals' || place.automaton === null) return null;
  return encodeAutomaton({ automaton: place.automaton, rules: [index], source }, (rule) => rule);
}

function isText({ match }: SpecialRule): boolean {
  return match === 'pattern' || match === 'regex';
}

function lengthOf(parts: readonly { readonly length: number }[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The smallest power of two that is at least this number; 0 if the number is 0. */
function slotsFor(count: number): number {
  return count === 0 ? 0 : 2 ** Math.ceil(Math.log2(count));
}
