/**
 * Understands one line of a filter list: hosts lines, plain domains, `*.domain`, `||domain^` and
 * `@@||domain^`, with comments, on the bytes and without making an object; what is more than that is read
 * as text by `adblock-rule.ts` and `config-line.ts`. A line with anything that Weir does not know makes no
 * rule: a rule is never widened by leaving a part of it out.
 * Cutting files into lines and counting is `parse-list.ts`.
 */
import { INHERITED_KINDS, RuleKind } from '../../shared/snapshot/rule-table.ts';
import { type BadFilter, type SpecialLine, readAdblockRule } from './adblock-rule.ts';
import {
  type ConfigOutcome,
  isRecord,
  readDnsmasqLine,
  readPolicyRecord,
  readUnboundLine,
} from './config-line.ts';
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

/** Receives the rules that are more than a name; `source` is for the receiver to set. */
export interface SpecialSink {
  special(rule: SpecialLine, line: number): void;
  /** Takes back the rules of the same text, of every list. */
  badFilter(badFilter: BadFilter): void;
}

/** Special rules of one list that are taken, and regular expressions among them. */
const MAX_SPECIAL_RULES = 50_000;
const MAX_EXPRESSIONS = 1000;
/** Longest beginning of a zone that is spread over lines. */
const MAX_ZONE_LINES = 20;

const NOT_A_NAME = invalidLine('not a domain name');
const ONE_LABEL = invalidLine('a single word is no domain name');
const ADDRESS = skippedLine('an address, not a name');
const REAL_ADDRESS = skippedLine('hosts line with a real address: no block');
const COSMETIC = skippedLine('cosmetic rule');
const TOO_MANY = skippedLine('too many patterns in one list');

const BANG = 0x21;
const HASH = 0x23;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const STAR = 0x2a;
const HYPHEN = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const EQUALS = 0x3d;
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
    dnsmasq: 0,
    unbound: 0,
    rpz: 0,
  };
  private readonly sink: RuleSink;
  private readonly specialSink: SpecialSink | undefined;
  private readonly allow: boolean;
  private specialRules = 0;
  private expressions = 0;
  /** Lines that the parentheses of a zone's SOA record may still go on for. */
  private zoneLines = 0;
  private readonly plainKind: number;
  private readonly suffixKind: number;
  private readonly subdomains: boolean;
  private readonly name = newScannedName();

  constructor(reading: ListReading, sink: RuleSink, specialSink?: SpecialSink) {
    this.specialSink = specialSink;
    this.allow = reading.kind === 'allow';
    const allow = reading.kind === 'allow';
    const exactKind = allow ? RuleKind.ALLOW_EXACT : RuleKind.BLOCK_EXACT;
    this.suffixKind = allow ? RuleKind.ALLOW_SUFFIX : RuleKind.BLOCK_SUFFIX;
    this.plainKind = reading.subdomains ? this.suffixKind : exactKind;
    this.subdomains = reading.subdomains;
    this.sink = sink;
  }

  /** Reads the line [start, end), trimmed and not empty; says why it made no rule, comments aside. */
  read(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    if (this.zoneLines > 0) return this.zoneHead(bytes, start, end);
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
          ? this.adblock(bytes, start, start + 2, end, this.suffixKind)
          : this.complex(bytes, start, end);
      case AT:
        if (bytes[start + 1] !== AT) return this.zoneHead(bytes, start, end);
        return bytes[start + 2] === PIPE && bytes[start + 3] === PIPE
          ? this.adblock(bytes, start, start + 4, end, RuleKind.ALLOW_SUFFIX)
          : this.complex(bytes, start, end);
      case STAR:
        return bytes[start + 1] === DOT ? this.wildcard(bytes, start, end) : this.complex(bytes, start, end);
      case SLASH:
        return bytes[start + 1] === SLASH ? null : this.complex(bytes, start, end);
      case DOLLAR:
        return /^\$(?:TTL|ORIGIN)\b/i.test(textOf(bytes, start, end))
          ? null
          : explainForeignLine(bytes, start, end);
      case DOT:
        return this.complex(bytes, start, end);
      case COLON:
        return bytes[start + 1] === SLASH ? this.complex(bytes, start, end) : this.text(bytes, start, end);
      default:
        return this.text(bytes, start, end);
    }
  }

  /** `||name^`, read from the name on; everything that is more is `complex`. */
  private adblock(
    bytes: Uint8Array,
    start: number,
    nameAt: number,
    end: number,
    kind: number,
  ): UnusedLine | null {
    const name = this.name;
    scanName(bytes, nameAt, end, name);
    if (name.stop === end || bytes[name.stop] !== CARET) return this.complex(bytes, start, end);
    let behind = name.stop + 1;
    // A name ends where the pattern ends, so an end anchor adds nothing.
    if (bytes[behind] === PIPE) behind++;
    if (behind < end && !isComment(bytes, behind, end)) return this.complex(bytes, start, end);
    if (!name.valid || name.numeric) return name.valid && name.labels === 4 ? ADDRESS : NOT_A_NAME;
    this.forms.adblock++;
    this.emit(kind);
    return null;
  }

  /** An Adblock-style rule that is more than a name. */
  private complex(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const line = textOf(bytes, start, end);
    const isExpression = line.startsWith('/') || line.startsWith('@@/');
    if (this.specialRules >= MAX_SPECIAL_RULES || (isExpression && this.expressions++ >= MAX_EXPRESSIONS))
      return TOO_MANY;
    const outcome = readAdblockRule(
      isExpression ? line : line.replace(/\s[#!;].*$/, '').trimEnd(),
      this.allow,
    );
    switch (outcome.type) {
      case 'unused':
        return outcome.unused;
      case 'name':
        return this.emitText(outcome.name, outcome.kind, 'adblock');
      case 'badfilter':
        this.specialSink?.badFilter(outcome.badFilter);
        break;
      default:
        this.specialRules++;
        if (outcome.rule.match !== 'exact') this.wildcardRules++;
        this.specialSink?.special(outcome.rule, this.lineNumber);
    }
    this.rules++;
    this.forms.adblock++;
    return null;
  }

  /** A line of dnsmasq's or unbound's configuration. */
  private config(outcome: ConfigOutcome, form: 'dnsmasq' | 'unbound'): UnusedLine | null {
    if ('unused' in outcome) return outcome.unused;
    const { exact, suffix } = this.kinds(outcome.allow);
    let unused: UnusedLine | null = null;
    for (const name of outcome.names)
      unused = this.emitText(name, outcome.reach === 'exact' ? exact : suffix, form) ?? unused;
    return unused;
  }

  /** A record of a response policy zone; its owner was just scanned. */
  private record(rest: string, wildcard: boolean): UnusedLine | null {
    const name = this.name;
    const owner = textOf(name.bytes, name.start, name.end);
    const action = readPolicyRecord(owner, rest);
    if (action === null) {
      if (rest.includes('(') && !rest.includes(')')) this.zoneLines = MAX_ZONE_LINES;
      return null;
    }
    if (typeof action !== 'string') return action;
    if (!name.valid || name.numeric) return NOT_A_NAME;
    const { exact, below } = this.kinds(action === 'allow');
    this.forms.rpz++;
    this.emit(wildcard ? below : exact);
    return null;
  }

  /** A zone's SOA record, which may be spread over lines. */
  private zoneHead(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const line = textOf(bytes, start, end).replace(/;.*$/, '');
    if (this.zoneLines > 0) {
      this.zoneLines = line.includes(')') ? 0 : this.zoneLines - 1;
      return null;
    }
    if (!/^@\s+.*\b(?:SOA|NS)\b/i.test(line)) return explainForeignLine(bytes, start, end);
    if (line.includes('(') && !line.includes(')')) this.zoneLines = MAX_ZONE_LINES;
    return null;
  }

  private kinds(allow: boolean): { exact: number; suffix: number; below: number } {
    return allow || this.allow
      ? { exact: RuleKind.ALLOW_EXACT, suffix: RuleKind.ALLOW_SUFFIX, below: RuleKind.ALLOW_BELOW }
      : { exact: RuleKind.BLOCK_EXACT, suffix: RuleKind.BLOCK_SUFFIX, below: RuleKind.BLOCK_BELOW };
  }

  private emitText(text: string, kind: number, form: keyof LineRules['forms']): UnusedLine | null {
    const name = this.name;
    const bytes = Buffer.from(text, 'utf8');
    scanName(bytes, 0, bytes.length, name);
    if (name.stop !== bytes.length || !name.valid) return NOT_A_NAME;
    if (name.numeric) return name.labels === 4 ? ADDRESS : NOT_A_NAME;
    this.forms[form]++;
    this.emit(kind);
    return null;
  }

  /** `*.name`: the name and all below it. */
  private wildcard(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const name = this.name;
    scanName(bytes, start + 2, end, name);
    if (name.stop < end && !isComment(bytes, name.stop, end)) {
      const rest = textOf(bytes, name.stop, end);
      return isRecord(rest) ? this.record(rest, true) : this.complex(bytes, start, end);
    }
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
    if (stop === end) {
      // A hyphen at either end is no name's: a part of names, in Adblock style.
      const isPart = name.labels === 1 && (bytes[start] === HYPHEN || bytes[end - 1] === HYPHEN);
      return isPart ? this.complex(bytes, start, end) : this.plain();
    }
    const next = bytes[stop]!;
    if (next <= 0x20) {
      if (name.numeric) return this.hosts(bytes, start, stop, end);
      if (isComment(bytes, stop, end)) return this.plain();
      const rest = textOf(bytes, stop, end);
      if (stop - start <= 3 && /^(?:NS|SOA|IN)$/i.test(textOf(bytes, start, stop))) return null;
      return isRecord(rest) ? this.record(rest, false) : explainForeignLine(bytes, start, end);
    }
    if (next === EQUALS && isLetter(bytes[start]!))
      return this.config(readDnsmasqLine(textOf(bytes, start, end)), 'dnsmasq');
    if (next === COLON && isUnboundOption(bytes, start, stop))
      return this.config(readUnboundLine(textOf(bytes, start, end)), 'unbound');
    if (next === CARET || next === PIPE || next === STAR || next === DOLLAR)
      return this.complex(bytes, start, end);
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
    if ((kind & INHERITED_KINDS) !== 0) this.wildcardRules++;
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

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Whether [start, end) is `local-zone`, `local-data` or a heading of unbound's configuration. */
function isUnboundOption(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 20) return false;
  return /^(?:local-zone|local-data|local-data-ptr|server|forward-zone|remote-control)$/i.test(
    textOf(bytes, start, end),
  );
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
