/** Counts the parsed rules of one list by kind and passes them to a receiver. `line-rules.ts` produces them. */
import { isAddressName } from '../../../../shared/policy/address-rule.ts';
import { addressFromText, addressToText, addressWord, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { INHERITED_KINDS, RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { PrefixLengths } from '../../../../shared/snapshot/prefix-lengths.ts';
import type { AddressNetwork } from './address-trigger.ts';
import type { BadFilter, SpecialLine } from './adblock-rule.ts';
import { invalidLine, skippedLine } from './foreign-line.ts';
import { wordKindOf } from './hosts-line.ts';
import type { ListFormat, UnusedLine } from './list-statistics.ts';
import { scanName, type ScannedName } from './name-scan.ts';

/**
 * Receives one rule: the name as text in [start, end) of `bytes` (ASCII in any case, no final dot, a valid domain name,
 * or an address in the form of RFC 5952), one `RuleKind` bit, and its line number, starting at 1. `bytes` are valid
 * only during the call.
 */
export type RuleSink = (bytes: Uint8Array, start: number, end: number, kind: number, line: number) => void;

/** Receives rules that consist of more than a name; the receiver sets `source`. */
export interface SpecialSink {
  /**
   * Returns a reason if the rule is not accepted, because it has no effect here or the limit for all lists is reached.
   */
  special(rule: SpecialLine, line: number): UnusedLine | null;
  /** Disables the rules with the same text in every list; false if the limit is reached. */
  badFilter(badFilter: BadFilter): boolean;
}

/** Syntax of a rule. */
export type RuleForm = Exclude<ListFormat, 'unknown'>;

const NOT_A_NAME = invalidLine(lineReason('not_a_name'));
const ADDRESS = skippedLine(lineReason('blocking_address'));

/**
 * Maximum number of clients that the rules of one list may identify by MAC or by name, limited because their addresses
 * are looked up periodically.
 */
const MAX_CLIENT_NAMES = 1000;
/** Maximum number of names of `$badfilter` rules that are kept per list. */
const MAX_DISABLED_NAMES = 1000;
const TOO_MANY_CLIENTS = skippedLine(lineReason('client_count', { count: MAX_CLIENT_NAMES }));
const EVERY_ADDRESS = skippedLine(lineReason('every_address_not_accepted'));
/** Reason of a rule that exceeds the limit of special rules. */
export const NO_SPACE = skippedLine(lineReason('all_patterns'));

/** Counts and passes on the rules of one list. */
export class RuleOutput {
  /** Number of the current line, starting at 1; set by the reader. */
  lineNumber = 0;
  rules = 0;
  /** Number of rules that cover more than their own name. */
  wildcardRules = 0;
  /** Number of patterns and regular expressions. */
  textRules = 0;
  /** Number of rules for an address or a prefix. */
  addressRules = 0;
  /** Clients that rules identify by MAC or by name. */
  readonly clientNames = new Set<string>();
  /** Names of rules that `$badfilter` rules disable; undefined = too many to keep. */
  takenBackNames: string[] | undefined = [];
  /** Share of the address space that address rules cover. */
  readonly coverage = new AddressCoverage();
  /** Lengths of the prefixes in rules. */
  readonly prefixes = new PrefixLengths();
  /** Number of rules by syntax. */
  readonly forms: Record<RuleForm, number> = {
    hosts: 0,
    domains: 0,
    wildcard: 0,
    adblock: 0,
    regex: 0,
    dnsmasq: 0,
    unbound: 0,
    rpz: 0,
  };
  private readonly sink: RuleSink;
  private readonly specialSink: SpecialSink | undefined;

  constructor(sink: RuleSink, specialSink: SpecialSink | undefined) {
    this.sink = sink;
    this.specialSink = specialSink;
  }

  /** Adds a rule for a name that was scanned. */
  name(name: ScannedName, kind: number, form: RuleForm): null {
    this.forms[form]++;
    this.rules++;
    if ((kind & INHERITED_KINDS) !== 0) this.wildcardRules++;
    this.sink(name.bytes, name.start, name.end, kind, this.lineNumber);
    return null;
  }

  /**
   * Adds a rule for a name or address that is given as text; `scratch` is overwritten. Returns a reason if the text is
   * neither.
   */
  text(text: string, kind: number, form: RuleForm, scratch: ScannedName): UnusedLine | null {
    if (isAddressName(text)) return this.address(text, kind, form);
    const bytes = Buffer.from(text, 'utf8');
    scanName(bytes, 0, bytes.length, scratch);
    if (scratch.stop !== bytes.length || !scratch.valid || scratch.numeric) return NOT_A_NAME;
    return this.name(scratch, kind, form);
  }

  /** Adds a rule for an address in answers; null addresses give no rule. */
  address(text: string, kind: number, form: RuleForm): UnusedLine | null {
    const address = addressFromText(text);
    if (address === null) return NOT_A_NAME;
    const written = Buffer.from(addressToText(address), 'latin1');
    if (wordKindOf(written, 0, written.length) === 'block-address') return ADDRESS;
    this.forms[form]++;
    this.rules++;
    this.addressRules++;
    this.coverage.addAddress(isMappedIpv4(address));
    this.sink(written, 0, written.length, kind, this.lineNumber);
    return null;
  }

  /** Adds a rule for a network in answers; a rule for every address is rejected. */
  network(
    { text, prefixBits, addressBits }: AddressNetwork,
    kind: number,
    form: RuleForm,
  ): UnusedLine | null {
    if (prefixBits === addressBits) return this.address(text, kind, form);
    if (prefixBits === 0) return EVERY_ADDRESS;
    this.forms[form]++;
    this.rules++;
    this.addressRules++;
    this.coverage.addNetwork(text, prefixBits, addressBits);
    this.prefixes.add(addressBits, prefixBits);
    this.sink(Buffer.from(text, 'latin1'), 0, text.length, kind, this.lineNumber);
    return null;
  }

  /** Adds a rule that consists of more than a name. */
  special(rule: SpecialLine, form: RuleForm): UnusedLine | null {
    const names = [...(rule.clientNames ?? []), ...(rule.exceptClientNames ?? [])];
    if (names.length > 0 && this.clientNames.size + names.length > MAX_CLIENT_NAMES) return TOO_MANY_CLIENTS;
    const unused = this.specialSink?.special(rule, this.lineNumber) ?? null;
    if (unused !== null) return unused;
    for (const name of names) this.clientNames.add(name);
    this.forms[form]++;
    this.rules++;
    if (rule.match !== 'exact') this.wildcardRules++;
    if (rule.match === 'pattern' || rule.match === 'regex') this.textRules++;
    return null;
  }

  /** Adds a rule that disables other rules. */
  badFilter(badFilter: BadFilter): UnusedLine | null {
    if (this.specialSink?.badFilter(badFilter) === false) return NO_SPACE;
    this.forms.adblock++;
    this.rules++;
    if (badFilter.name !== null) this.takenBackNames?.push(badFilter.name);
    if ((this.takenBackNames?.length ?? 0) > MAX_DISABLED_NAMES) this.takenBackNames = undefined;
    return null;
  }
}

/**
 * Kinds of rules by the names that they cover: `exact` covers one name, `suffix` the name and its subdomains, `below`
 * only its subdomains.
 */
export function ruleKinds(allow: boolean): { exact: number; suffix: number; below: number } {
  return allow
    ? { exact: RuleKind.ALLOW_EXACT, suffix: RuleKind.ALLOW_SUFFIX, below: RuleKind.ALLOW_BELOW }
    : { exact: RuleKind.BLOCK_EXACT, suffix: RuleKind.BLOCK_SUFFIX, below: RuleKind.BLOCK_BELOW };
}

const IPV4_BITS = 32;
/**
 * 2000::/3, the global unicast addresses of IPv6 (RFC 4291 section 2.4), as a part of the whole IPv6 address space from
 * 0 to 1.
 */
const GLOBAL_START = 0.125;
const GLOBAL_SIZE = 0.125;

/** Networks of one address family, as parts of the interval from 0 to 1. */
type Parts = [start: number, size: number][];

/** Computes the share of the address space that the address rules of one list cover, counting overlaps once. */
export class AddressCoverage {
  /** Number of single IPv4 addresses. Duplicates count twice, but are too few to matter. */
  private single = 0;
  private readonly ipv4: Parts = [];
  private readonly ipv6: Parts = [];

  /** Counts a single address; a single IPv6 address is too small a share to count. */
  addAddress(isIpv4: boolean): void {
    if (isIpv4) this.single++;
  }

  /** Counts a network of more than one address, `address/length` as text; `addressBits` is 32 or 128. */
  addNetwork(text: string, prefixBits: number, addressBits: number): void {
    const bytes = addressFromText(text.slice(0, text.indexOf('/')))!;
    if (addressBits === IPV4_BITS)
      this.ipv4.push([(addressWord(bytes, 12) >>> 0) / 2 ** IPV4_BITS, 2 ** -prefixBits]);
    else this.ipv6.push([startOf(bytes), 2 ** -prefixBits]);
  }

  /** The covered share of IPv4 or that of 2000::/3, whichever is larger; 0 to 1. */
  share(): number {
    const ipv4 = covered(this.ipv4, 0, 1) + this.single / 2 ** IPV4_BITS;
    return Math.max(ipv4, covered(this.ipv6, GLOBAL_START, GLOBAL_SIZE) / GLOBAL_SIZE);
  }
}

/** The first 52 bits of an address as a number from 0 to 1, which can represent 52 bits exactly. */
function startOf(bytes: Uint8Array): number {
  let start = 0;
  for (let at = 6; at >= 0; at--) start = (start + bytes[at]!) / 256;
  return start;
}

/** Total size of the covered parts of [start, start + size). */
function covered(parts: Parts, start: number, size: number): number {
  let sum = 0;
  let end = start;
  for (const [from, length] of parts.sort(([a], [b]) => a - b)) {
    const to = Math.min(from + length, start + size);
    const begin = Math.max(from, end);
    if (to <= begin) continue;
    sum += to - begin;
    end = to;
  }
  return sum;
}
