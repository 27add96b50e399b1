/**
 * Parses one line of a filter list: hosts lines, plain domains, `*.domain`, `||domain^` and `@@||domain^`, with
 * comments. These are parsed as bytes, without allocating; `adblock-rule.ts`, `config-line.ts` and `expression-line.ts`
 * parse all other lines as text. A line with an unknown part gives no rule, because without this part, the rule could
 * match more names than intended. `parse-list.ts` splits files into lines, `rule-output.ts` counts and forwards rules.
 */
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { isAddressName } from '../../../../shared/policy/address-rule.ts';
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { networkOf } from './address-trigger.ts';
import { isMeantForEveryName } from '../../../../shared/automata/regex-filter.ts';
import { type SpecialLine, readAdblockRule } from './adblock-rule.ts';
import { type ConfigOutcome, UnboundLines, isUnboundOption, readDnsmasqLine } from './config-line.ts';
import { looksLikeExpression, readExpressionLine } from './expression-line.ts';
import { explainForeignLine, invalidLine, skippedLine } from './foreign-line.ts';
import { isLocalName, wordKindOf } from './hosts-line.ts';
import {
  MAX_RULE_BYTES,
  Sign,
  endBeforeComment,
  endOfWord,
  isComment,
  isCosmetic,
  isLetter,
  startsComment,
  startsCosmetic,
  textBetween,
} from './line-bytes.ts';
import type { UnusedLine } from './list-statistics.ts';
import { newScannedName, scanName } from './name-scan.ts';
import { type RuleForm, type RuleOutput, ruleKinds } from './rule-output.ts';
import { ScopedNames, type UnusedSink } from './scoped-names.ts';
import { SpecialAllowance } from './special-allowance.ts';
import { ZoneLines, isRecord, isZoneOption } from './zone-lines.ts';

/** How to read the list of a source. */
export interface ListReading {
  /** Action of the rules in the list, except rules with `@@`. */
  readonly kind: 'block' | 'allow';
  /** Whether plain domains and hosts names also cover their subdomains. */
  readonly subdomains: boolean;
  /** Whether users wrote the list in Weir: such a list may be empty, and each of its lines is checked. */
  readonly isCustom?: boolean;
}

/** Maximum length of an IPv6 address with its prefix length. */
const MAX_NETWORK_BYTES = 49;

const NOT_A_NAME = invalidLine(lineReason('not_a_name'));
const ONE_LABEL = invalidLine(lineReason('single_word'));
const ADDRESS = skippedLine(lineReason('address'));
const REAL_ADDRESS = skippedLine(lineReason('hosts_address'));
const COSMETIC = skippedLine(lineReason('cosmetic'));
const TOO_MANY = skippedLine(lineReason('list_patterns'));
const TOO_LONG = invalidLine(lineReason('rule_too_long', { bytes: MAX_RULE_BYTES }));

const { BANG, HASH, DOLLAR, OPEN, STAR, HYPHEN, DOT, SLASH, COLON, EQUALS, SEMICOLON, AT } = Sign;
const { BACKSLASH, QUESTION, PLUS, BRACKET, BRACKET_END, CARET, PIPE } = Sign;

/** Reads the lines of one list. */
export class LineRules {
  private readonly output: RuleOutput;
  private readonly allow: boolean;
  private readonly isCustom: boolean;
  private readonly allowance = new SpecialAllowance();
  private readonly scoped: ScopedNames;
  private readonly zone: ZoneLines;
  private readonly unbound = new UnboundLines();
  private readonly exactKind: number;
  private readonly plainKind: number;
  private readonly suffixKind: number;
  private readonly subdomains: boolean;
  private readonly scanned = newScannedName();

  constructor(reading: ListReading, output: RuleOutput) {
    this.output = output;
    this.allow = reading.kind === 'allow';
    this.isCustom = reading.isCustom === true;
    const { exact, suffix } = ruleKinds(this.allow);
    this.exactKind = exact;
    this.suffixKind = suffix;
    this.plainKind = reading.subdomains ? this.suffixKind : this.exactKind;
    this.subdomains = reading.subdomains;
    this.scoped = new ScopedNames(this.allow, output);
    this.zone = new ZoneLines({ allow: this.allow, isCustom: this.isCustom }, output, this.scoped);
  }

  /**
   * Reads the line [start, end), trimmed and not empty; returns the reason if it gives no rule, or null if it gives a
   * rule or is a comment.
   */
  read(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    if (this.zone.isOpen) {
      const read = this.zone.readLine(bytes, start, end, isIndented(bytes, start));
      if (read !== undefined) return read;
    }
    switch (bytes[start]) {
      case HASH:
        return isCosmetic(bytes, start, end) ? COSMETIC : null;
      case BANG:
      case SEMICOLON:
        return null;
      case BRACKET:
        return bytes[end - 1] === BRACKET_END ? null : this.expressionOr(bytes, start, end);
      case CARET:
      case OPEN:
        return this.expressionOr(bytes, start, end);
      case PIPE:
        return bytes[start + 1] === PIPE
          ? this.adblock(bytes, start, start + 2, end, this.suffixKind)
          : this.complex(bytes, start, end);
      case AT:
        if (bytes[start + 1] !== AT) return this.zone.readApex(bytes, start, end);
        return bytes[start + 2] === PIPE && bytes[start + 3] === PIPE
          ? this.adblock(bytes, start, start + 4, end, RuleKind.ALLOW_SUFFIX)
          : this.complex(bytes, start, end);
      case STAR:
        return this.star(bytes, start, end);
      case SLASH:
        return bytes[start + 1] === SLASH ? null : this.complex(bytes, start, end);
      case DOLLAR:
        return isZoneOption(bytes, start, end)
          ? this.zone.readApex(bytes, start, end)
          : this.complex(bytes, start, end);
      case DOT:
        return looksLikeExpression(bytes, start, end)
          ? this.expressionOr(bytes, start, end)
          : this.complex(bytes, start, end);
      case COLON:
        return bytes[start + 1] === SLASH ? this.complex(bytes, start, end) : this.text(bytes, start, end);
      default:
        return this.text(bytes, start, end);
    }
  }

  /** Reads `||name^`, from the name on; if more text follows, `complex()` reads the line. */
  private adblock(
    bytes: Uint8Array,
    start: number,
    nameAt: number,
    end: number,
    kind: number,
  ): UnusedLine | null {
    const name = this.scanned;
    scanName(bytes, nameAt, end, name);
    if (name.stop === end || bytes[name.stop] !== CARET) return this.complex(bytes, start, end);
    let after = name.stop + 1;
    // The name ends where the pattern ends, so an end anchor has no further effect.
    if (bytes[after] === PIPE) after++;
    if (after < end && !isComment(bytes, after, end)) return this.complex(bytes, start, end);
    if (!name.valid) return NOT_A_NAME;
    return name.numeric ? this.address(kind, 'adblock') : this.output.name(name, kind, 'adblock');
  }

  /** Reads `*.domain`, the root wildcard of a zone, or an Adblock-style pattern. */
  private star(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    if (bytes[start + 1] === DOT) return this.wildcard(bytes, start, end);
    if (end - start > MAX_RULE_BYTES) return TOO_LONG;
    return isRecord(textBetween(bytes, start + 1, end))
      ? this.record(bytes, start, end)
      : this.complex(bytes, start, end);
  }

  /** Reads an Adblock-style rule that consists of more than a name. */
  private complex(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const isException = bytes[start] === AT && bytes[start + 1] === AT;
    const isExpression = bytes[isException ? start + 2 : start] === SLASH;
    const cut = endBeforeComment(bytes, start, end, startsComment);
    // In an expression, white space and a comment sign may be part of the rule.
    const ruleEnd = isExpression && bytes[cut - 1] !== SLASH ? end : cut;
    if (ruleEnd - start > MAX_RULE_BYTES) return TOO_LONG;
    if (!this.allowance.hasRoomFor(ruleEnd - start, isExpression)) return TOO_MANY;
    const outcome = readAdblockRule(textBetween(bytes, start, ruleEnd), this.allow, this.isCustom);
    switch (outcome.type) {
      case 'unused':
        return outcome.unused;
      case 'name':
        return this.output.text(outcome.name, outcome.kind, 'adblock', this.scanned);
      case 'badfilter':
        this.allowance.take(ruleEnd - start);
        return this.output.badFilter(outcome.badFilter);
      default:
        this.allowance.take(ruleEnd - start);
        return this.special(outcome.rule, 'adblock');
    }
  }

  /** Reads a line in a list of bare regular expressions; all other lines are unknown. */
  private expressionOr(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const ruleEnd = endBeforeComment(bytes, start, end, (byte) => byte === HASH);
    if (!looksLikeExpression(bytes, start, ruleEnd)) return explainForeignLine(bytes, start, end);
    if (ruleEnd - start > MAX_RULE_BYTES) return TOO_LONG;
    if (!this.allowance.hasRoomFor(ruleEnd - start, true)) return TOO_MANY;
    this.allowance.take(ruleEnd - start);
    const rule = readExpressionLine(textBetween(bytes, start, ruleEnd), this.suffixKind);
    return 'invalid' in rule ? rule : this.special(rule, 'regex');
  }

  /** Custom rules may block or allow every name if they are clearly meant to. */
  private special(rule: SpecialLine, form: RuleForm): UnusedLine | null {
    const isMeant = this.isCustom && isMeantForEveryName(rule);
    return this.output.special(isMeant ? { ...rule, forEveryName: true } : rule, form);
  }

  /** Passes on the rules that depend on later lines; called once, after the last line. */
  finish(unused: UnusedSink): void {
    this.scoped.finish(unused);
  }

  /** Handles a line of dnsmasq's or unbound's configuration. */
  private config(outcome: ConfigOutcome, form: 'dnsmasq' | 'unbound'): UnusedLine | null {
    if ('network' in outcome) return this.output.network(outcome.network, this.exactKind, form);
    let unused = outcome.unused ?? null;
    if (!('names' in outcome)) return unused;
    for (const name of outcome.names)
      unused = (isAddressName(name) ? ADDRESS : this.scoped.add(name, outcome.meaning)) ?? unused;
    return unused;
  }

  /** Adds a rule for the address that was just scanned. */
  private address(kind: number, form: RuleForm): UnusedLine | null {
    const { bytes, start, end, labels } = this.scanned;
    return labels === 4 ? this.output.address(textBetween(bytes, start, end), kind, form) : NOT_A_NAME;
  }

  /** Reads `*.name`, which covers the name and its subdomains. */
  private wildcard(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const name = this.scanned;
    scanName(bytes, start + 2, end, name);
    if (name.stop < end && !isComment(bytes, name.stop, end)) {
      if (end - start > MAX_RULE_BYTES) return TOO_LONG;
      const rest = textBetween(bytes, name.stop, end);
      return isRecord(rest) ? this.record(bytes, start, end) : this.complex(bytes, start, end);
    }
    if (!name.valid || name.numeric) return NOT_A_NAME;
    return this.output.name(name, this.suffixKind, 'wildcard');
  }

  /** Reads a record of a response policy zone. */
  private record(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    return this.zone.readLine(bytes, start, end, false) ?? null;
  }

  /** Reads a line that starts with a word: a plain domain, a hosts line, or an unknown line. */
  private text(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const name = this.scanned;
    scanName(bytes, start, end, name);
    const stop = name.stop;
    if (stop === end) {
      // A name neither starts nor ends with a hyphen, so such a text is an Adblock-style pattern for a part of a name.
      const isPart = name.labels === 1 && (bytes[start] === HYPHEN || bytes[end - 1] === HYPHEN);
      return isPart ? this.complex(bytes, start, end) : this.plain();
    }
    const next = bytes[stop]!;
    if (next <= 0x20) {
      if (isAssignment(bytes, stop, end) && isLetter(bytes[start]!)) return this.dnsmasq(bytes, start, end);
      if (name.numeric) return this.hosts(bytes, start, stop, end);
      if (isComment(bytes, stop, end)) return this.plain();
      if (end - start > MAX_RULE_BYTES) return TOO_LONG;
      const rest = textBetween(bytes, stop, end);
      if (stop - start <= 3 && /^(?:NS|SOA|IN)$/i.test(textBetween(bytes, start, stop))) return null;
      return isRecord(rest) ? this.record(bytes, start, end) : explainForeignLine(bytes, start, end);
    }
    if (next === EQUALS && isLetter(bytes[start]!)) return this.dnsmasq(bytes, start, end);
    if (next === COLON && isUnboundOption(bytes, start, stop))
      return end - start > MAX_RULE_BYTES
        ? TOO_LONG
        : this.config(this.unbound.read(textBetween(bytes, start, end)), 'unbound');
    if (next === CARET || next === PIPE || next === STAR || next === DOLLAR)
      return this.complex(bytes, start, end);
    if (next === SLASH && name.numeric) return this.network(bytes, start, end);
    if (next === COLON && bytes[stop + 1] === SLASH) return this.complex(bytes, start, end);
    if (next === COLON) return this.ipv6(bytes, start, stop, end);
    if (next === HASH && stop > start) return startsCosmetic(bytes, stop, end) ? COSMETIC : this.plain();
    if (
      next === BACKSLASH ||
      next === OPEN ||
      next === BRACKET ||
      next === QUESTION ||
      next === PLUS ||
      next === SEMICOLON
    )
      return this.expressionOr(bytes, start, end);
    return explainForeignLine(bytes, start, end);
  }

  private dnsmasq(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    if (end - start > MAX_RULE_BYTES) return TOO_LONG;
    return this.config(readDnsmasqLine(textBetween(bytes, start, end)), 'dnsmasq');
  }

  /**
   * Reads a line whose first word has its first colon at `colon`: an IPv6 address or network, which names may follow.
   */
  private ipv6(bytes: Uint8Array, start: number, colon: number, end: number): UnusedLine | null {
    const wordEnd = endOfWord(bytes, colon, end);
    if (bytes.subarray(colon, wordEnd).includes(SLASH)) return this.network(bytes, start, end);
    if (wordEnd < end) return this.hosts(bytes, start, wordEnd, end);
    return wordKindOf(bytes, start, end) === 'no-address'
      ? explainForeignLine(bytes, start, end)
      : this.output.address(textBetween(bytes, start, end), this.exactKind, 'domains');
  }

  /** Reads `address/length`, possibly followed by a comment. */
  private network(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const wordEnd = endOfWord(bytes, start, end);
    const isAlone = wordEnd - start <= MAX_NETWORK_BYTES && isComment(bytes, wordEnd, end);
    const network = isAlone ? networkOf(textBetween(bytes, start, wordEnd)) : null;
    if (network === null) return explainForeignLine(bytes, start, end);
    return this.output.network(network, this.exactKind, 'domains');
  }

  private plain(): UnusedLine | null {
    const name = this.scanned;
    if (!name.valid) return NOT_A_NAME;
    if (name.numeric) return this.address(this.exactKind, 'domains');
    if (name.labels <= 2 && isLocalName(name)) return null;
    if (name.labels === 1 && !this.subdomains) return ONE_LABEL;
    return this.output.name(name, this.plainKind, 'domains');
  }

  /** Reads a line whose first word, [start, wordEnd), may be an address followed by names. */
  private hosts(bytes: Uint8Array, start: number, wordEnd: number, end: number): UnusedLine | null {
    const first = wordKindOf(bytes, start, wordEnd);
    if (first === 'no-address') return explainForeignLine(bytes, start, end);
    if (isComment(bytes, wordEnd, end))
      return this.output.address(textBetween(bytes, start, wordEnd), this.exactKind, 'domains');
    if (first === 'real-address') return REAL_ADDRESS;
    const name = this.scanned;
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
        unused ??= wordKindOf(name.bytes, name.start, name.end) === 'block-address' ? null : ADDRESS;
      else if (!isLocalName(name))
        this.output.name(name, wildcard ? this.suffixKind : this.plainKind, 'hosts');
    }
    return unused;
  }
}

/** Whether the line starts with white space: in a zone file, such a line has the same owner as the previous record. */
function isIndented(bytes: Uint8Array, start: number): boolean {
  const before = bytes[start - 1];
  return before === 0x20 || before === 0x09;
}

/** Whether there is only white space between `at` and an equals sign. */
function isAssignment(bytes: Uint8Array, at: number, end: number): boolean {
  let next = at;
  while (next < end && bytes[next]! <= 0x20) next++;
  return bytes[next] === EQUALS;
}
