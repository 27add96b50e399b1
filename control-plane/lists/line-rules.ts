/**
 * Understands one line of a filter list: hosts lines, plain domains, `*.domain`, `||domain^` and
 * `@@||domain^`, with comments. A line with anything that Weir does not know makes no rule: a rule is never
 * widened by leaving a part of it out. Nothing here makes an object for a usable line.
 * Cutting files into lines and counting is `parse-list.ts`.
 */
import { RuleKind, SUFFIX_KINDS } from '../../shared/snapshot/rule-table.ts';
import { explainForeignLine, invalidLine, skippedLine } from './foreign-line.ts';
import { isLocalName, judgeWord } from './hosts-line.ts';
import type { ListFormat, UnusedLine } from './list-statistics.ts';
import { newScannedName, scanName } from './name-scan.ts';

/** How a source wants its list read. */
export interface ListReading {
  /** What the rules of the list do, `@@` aside. */
  readonly kind: 'block' | 'allow';
  /** Plain domains and hosts names cover the names below them too. */
  readonly subdomains: boolean;
}

/**
 * Receives one rule: the name as text in [start, end) of `bytes` (ASCII in any case, no final dot, a valid
 * domain name), one bit of `RuleKind`, and its 1-based line. `bytes` are valid during the call only.
 */
export type RuleSink = (bytes: Uint8Array, start: number, end: number, kind: number, line: number) => void;

const NOT_A_NAME = invalidLine('not a domain name');
const ONE_LABEL = invalidLine('a single word is no domain name');
const ADDRESS = skippedLine('an address, not a name');
const REAL_ADDRESS = skippedLine('hosts line with a real address: no block');
const COSMETIC = skippedLine('cosmetic rule');
const MODIFIER = skippedLine('modifier is not supported');
const PREFIX = skippedLine('prefix pattern (|| without ^) is not supported');
const PATTERN = skippedLine('pattern is not supported');
const START_ANCHOR = skippedLine('start anchor (|) is not supported');
const EXCEPTION = skippedLine('exception that is not @@||domain^ is not supported');
const REGEX = skippedLine('regular expression is not supported');
const URL_PATH = skippedLine('URL or path: a DNS server sees names only');

const BANG = 0x21;
const HASH = 0x23;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const STAR = 0x2a;
const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const QUESTION = 0x3f;
const AT = 0x40;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const CARET = 0x5e;
const PIPE = 0x7c;

/** Reads lines of one list and counts what they held. */
export class LineRules {
  /** 1-based number of the line that is being read; whoever cuts the lines sets it. */
  lineNumber = 0;
  rules = 0;
  wildcardRules = 0;
  /** Rules by the way they were written. */
  readonly forms: Record<Exclude<ListFormat, 'unknown'>, number> = {
    hosts: 0,
    domains: 0,
    wildcard: 0,
    adblock: 0,
  };
  private readonly sink: RuleSink;
  private readonly plainKind: number;
  private readonly suffixKind: number;
  private readonly subdomains: boolean;
  private readonly name = newScannedName();

  constructor(reading: ListReading, sink: RuleSink) {
    const allow = reading.kind === 'allow';
    const exactKind = allow ? RuleKind.ALLOW_EXACT : RuleKind.BLOCK_EXACT;
    this.suffixKind = allow ? RuleKind.ALLOW_SUFFIX : RuleKind.BLOCK_SUFFIX;
    this.plainKind = reading.subdomains ? this.suffixKind : exactKind;
    this.subdomains = reading.subdomains;
    this.sink = sink;
  }

  /** Reads the line [start, end), trimmed and not empty; says why it made no rule, comments aside. */
  read(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    switch (bytes[start]) {
      case HASH:
        return isCosmetic(bytes, start, end) ? COSMETIC : null;
      case BANG:
      case SEMICOLON:
        return null;
      case BRACKET:
        return bytes[end - 1] === BRACKET_END ? null : explainForeignLine(bytes, start, end);
      case PIPE:
        return bytes[start + 1] === PIPE
          ? this.adblock(bytes, start + 2, end, this.suffixKind)
          : START_ANCHOR;
      case AT:
        if (bytes[start + 1] !== AT) return explainForeignLine(bytes, start, end);
        if (bytes[start + 2] !== PIPE || bytes[start + 3] !== PIPE) return EXCEPTION;
        return this.adblock(bytes, start + 4, end, RuleKind.ALLOW_SUFFIX);
      case STAR:
        return bytes[start + 1] === DOT ? this.wildcard(bytes, start, end) : PATTERN;
      case SLASH:
        return bytes[start + 1] === SLASH ? null : REGEX;
      case DOT:
        return PATTERN;
      default:
        return this.text(bytes, start, end);
    }
  }

  /** `||name^`, read from the name on. */
  private adblock(bytes: Uint8Array, nameAt: number, end: number, kind: number): UnusedLine | null {
    const name = this.name;
    scanName(bytes, nameAt, end, name);
    if (name.stop === end) return PREFIX;
    if (bytes[name.stop] !== CARET) return whyNoCaret(bytes[name.stop]!);
    let behind = name.stop + 1;
    // A name ends where the pattern ends, so an end anchor adds nothing.
    if (bytes[behind] === PIPE) behind++;
    if (behind < end && !isComment(bytes, behind, end))
      return bytes[behind] === DOLLAR ? MODIFIER : whyNoCaret(bytes[behind]!);
    if (!name.valid || name.numeric) return name.valid && name.labels === 4 ? ADDRESS : NOT_A_NAME;
    this.forms.adblock++;
    this.emit(kind);
    return null;
  }

  /** `*.name`: the name and all below it. */
  private wildcard(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const name = this.name;
    scanName(bytes, start + 2, end, name);
    if (name.stop < end && !isComment(bytes, name.stop, end)) return explainForeignLine(bytes, start, end);
    if (!name.valid || name.numeric) return NOT_A_NAME;
    this.forms.wildcard++;
    this.emit(this.suffixKind);
    return null;
  }

  /** A line that starts with a word: a plain domain, a hosts line, or something foreign. */
  private text(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const name = this.name;
    scanName(bytes, start, end, name);
    const stop = name.stop;
    if (stop === end) return this.plain();
    const next = bytes[stop]!;
    if (next <= 0x20) {
      if (name.numeric) return this.hosts(bytes, start, stop, end);
      return isComment(bytes, stop, end) ? this.plain() : explainForeignLine(bytes, start, end);
    }
    if (next === COLON) {
      const wordEnd = endOfWord(bytes, stop, end);
      if (wordEnd < end) return this.hosts(bytes, start, wordEnd, end);
      return judgeWord(bytes, start, end) === 'no-address' ? explainForeignLine(bytes, start, end) : ADDRESS;
    }
    if (next === HASH && stop > start) return startsCosmetic(bytes, stop, end) ? COSMETIC : this.plain();
    return explainForeignLine(bytes, start, end);
  }

  private plain(): UnusedLine | null {
    const name = this.name;
    if (!name.valid || name.numeric) return name.valid && name.labels === 4 ? ADDRESS : NOT_A_NAME;
    if (name.labels <= 2 && isLocalName(name)) return null;
    if (name.labels === 1 && !this.subdomains) return ONE_LABEL;
    this.forms.domains++;
    this.emit(this.plainKind);
    return null;
  }

  /** A line whose first word, [start, wordEnd), may be an address with names behind it. */
  private hosts(bytes: Uint8Array, start: number, wordEnd: number, end: number): UnusedLine | null {
    const first = judgeWord(bytes, start, wordEnd);
    if (first === 'no-address') return explainForeignLine(bytes, start, end);
    if (isComment(bytes, wordEnd, end)) return ADDRESS;
    if (first === 'real-address') return REAL_ADDRESS;
    const name = this.name;
    let unused: UnusedLine | null = null;
    for (let at = wordEnd; at < end;) {
      if (bytes[at]! <= 0x20) {
        at++;
        continue;
      }
      if (startsComment(bytes[at]!)) break;
      const wildcard = bytes[at] === STAR && bytes[at + 1] === DOT;
      scanName(bytes, wildcard ? at + 2 : at, end, name);
      at = name.stop;
      const clean = at === end || bytes[at]! <= 0x20 || bytes[at] === HASH;
      if (!clean) at = endOfWord(bytes, at, end);
      if (!clean || !name.valid) unused = NOT_A_NAME;
      else if (name.numeric)
        unused ??= judgeWord(bytes, name.start, name.end) === 'block-address' ? null : ADDRESS;
      else if (!isLocalName(name)) {
        this.forms.hosts++;
        this.emit(wildcard ? this.suffixKind : this.plainKind);
      }
    }
    return unused;
  }

  private emit(kind: number): void {
    const name = this.name;
    this.rules++;
    if ((kind & SUFFIX_KINDS) !== 0) this.wildcardRules++;
    this.sink(name.bytes, name.start, name.end, kind, this.lineNumber);
  }
}

function startsComment(byte: number): boolean {
  return byte === HASH || byte === BANG || byte === SEMICOLON;
}

/** Whether nothing but white space and a comment lies in [at, end); it must start with white space. */
function isComment(bytes: Uint8Array, at: number, end: number): boolean {
  if (at < end && bytes[at]! > 0x20) return false;
  let next = at;
  while (next < end && bytes[next]! <= 0x20) next++;
  return next === end || startsComment(bytes[next]!) || (bytes[next] === SLASH && bytes[next + 1] === SLASH);
}

function endOfWord(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end && bytes[next]! > 0x20) next++;
  return next;
}

/** Whether the `#` at `at`, right behind a name, can start `##`, `#@#`, `#?#`, `#$#` or `#%#`. */
function startsCosmetic(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 1 >= end) return false;
  const next = bytes[at + 1];
  return next === HASH || next === AT || next === QUESTION || next === DOLLAR || next === PERCENT;
}

/** Whether a line that starts with `#` is a cosmetic rule for every page; headings (`## Ads`) are comments. */
function isCosmetic(bytes: Uint8Array, at: number, end: number): boolean {
  if (!startsCosmetic(bytes, at, end)) return false;
  let next = at + 1;
  while (next < end && next < at + 3 && bytes[next] !== HASH) next++;
  return next + 1 < end && bytes[next] === HASH && bytes[next + 1]! > 0x20 && bytes[next + 1] !== HASH;
}

function whyNoCaret(next: number): UnusedLine {
  if (next === SLASH || next === COLON) return URL_PATH;
  if (next === DOLLAR) return MODIFIER;
  return next <= 0x20 ? PREFIX : PATTERN;
}
