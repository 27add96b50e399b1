/**
 * The text of a regex filter: a regular expression, then, after semicolons, options as in Pi-hole (docs.pi-hole.net,
 * "Pi-hole regular expressions extensions"): `;querytype=A,AAAA` or `;querytype=!A` and `;reply=` with a response code
 * or an address. `;invert` is rejected: the names that an inverted expression matches cannot be indexed by their
 * letters.
 */
import { compileExpression } from './expression.ts';
import { canFindName, findsEveryName } from './reach.ts';
import { RRType, Rcode } from '../dns/iana.ts';
import { addressFromText, isMappedIpv4 } from '../net/ip.ts';
import { type LineReason, lineReason } from '../policy/reasons/line-reasons.ts';
import type { SpecialRule } from '../snapshot/special-rules.ts';

/** The query types to which an expression applies, and the answer. */
export type RegexOptions = Pick<SpecialRule, 'types' | 'exceptTypes' | 'rewrite'>;

/** An expression with its options. */
export interface RegexRule {
  readonly expression: string;
  readonly options: RegexOptions;
  /** Whether the form of the pattern shows that it is meant for every name. */
  readonly forEveryName: boolean;
}

/** Reason why a pattern is rejected; its text fits into the middle of a sentence. */
export interface Refusal {
  readonly reason: LineReason;
}

/** Reason to reject a rule that would match every name. */
export const EVERY_NAME = lineReason('every_name');
/** Reason to reject a pattern that matches no name: it is for URLs, or has letters that ASCII names do not contain. */
export const NO_NAME = lineReason('no_name');

/** Offset of an IPv4 address in 16 bytes. */
const IPV4_AT = 12;
const REPLY_CODES: ReadonlyMap<string, number> = new Map([
  ['NODATA', Rcode.NOERROR],
  ['NXDOMAIN', Rcode.NXDOMAIN],
  ['REFUSED', Rcode.REFUSED],
]);
const OPTION = /;\s*(?:querytype|reply|invert)\b/i;
const FOR_EVERY_NAME = { regex: /^\^?\.[*+]\$?$/, pattern: /^(?:\|\|)?\*\^?$/ };

/** Whether a text has options after its expression. */
export function hasRegexOptions(text: string): boolean {
  return OPTION.test(text);
}

/** Whether the form of a rule shows that it is meant for every name: `*`, `||*^` or `.*`. */
export function isMeantForEveryName({ match, text }: Pick<SpecialRule, 'match' | 'text'>): boolean {
  return (match === 'regex' || match === 'pattern') && FOR_EVERY_NAME[match].test(text);
}

/** Separates an expression from its options. */
export function readRegexRule(text: string): RegexRule | Refusal {
  const [expression = '', ...written] = text.split(';');
  const options: Writable<RegexOptions> = {};
  for (const option of written) {
    const reason = readOption(option.trim(), options);
    if (reason !== null) return { reason };
  }
  return { expression, options, forEveryName: FOR_EVERY_NAME.regex.test(expression) };
}

/** Reason why `text` is rejected as a new regex filter; null if it is accepted. */
export function refuseRegexFilter(text: string): LineReason | null {
  const rule = readRegexRule(text);
  if ('reason' in rule) return rule.reason;
  const compiled = compileExpression(rule.expression);
  if ('reason' in compiled) return lineReason('not_linear', { reason: compiled.reason });
  if (!canFindName(compiled.automaton)) return NO_NAME;
  const { types, exceptTypes } = rule.options;
  const isFree = rule.forEveryName || types !== undefined || exceptTypes !== undefined;
  return isFree || !findsEveryName(compiled.automaton) ? null : lineReason('every_name_regex');
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Reads an option; returns why the option cannot be used, or null. */
function readOption(option: string, into: Writable<RegexOptions>): LineReason | null {
  const at = option.indexOf('=');
  const name = (at < 0 ? option : option.slice(0, at)).trim().toLowerCase();
  const value = at < 0 ? '' : option.slice(at + 1).trim();
  if (name === 'querytype') return readTypes(value, into);
  if (name === 'reply') return readReply(value, into);
  if (name === 'invert') return lineReason('invert');
  return lineReason('regex_option', { option: option.slice(0, 40) });
}

function readTypes(value: string, into: Writable<RegexOptions>): LineReason | null {
  const isExcept = value.startsWith('!');
  const types: number[] = [];
  for (const word of value.replace(/^!/, '').split(',')) {
    const type = typeCode(word.trim().toUpperCase());
    if (type === undefined) return lineReason('query_type', { type: word.trim().slice(0, 20) });
    types.push(type);
  }
  if (isExcept) into.exceptTypes = types;
  else into.types = types;
  return null;
}

function typeCode(name: string): number | undefined {
  const numbered = /^TYPE(\d{1,5})$/.exec(name);
  if (numbered !== null) return Number(numbered[1]);
  return Object.hasOwn(RRType, name) ? RRType[name as keyof typeof RRType] : undefined;
}

function readReply(value: string, into: Writable<RegexOptions>): LineReason | null {
  if (into.rewrite !== undefined) return lineReason('reply_count');
  const address = addressFromText(value);
  const rcode = REPLY_CODES.get(value.toUpperCase());
  if (address === null && rcode === undefined)
    return lineReason('reply_value', { value: value.slice(0, 40) });
  into.rewrite = address === null ? { rcode: rcode! } : { rcode: Rcode.NOERROR, record: recordOf(address) };
  return null;
}

function recordOf(address: Uint8Array): { type: number; rdata: string } {
  const isIpv4 = isMappedIpv4(address);
  const bytes = isIpv4 ? address.subarray(IPV4_AT) : address;
  const rdata = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { type: isIpv4 ? RRType.A : RRType.AAAA, rdata };
}
