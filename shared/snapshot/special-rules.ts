/**
 * Rules that do not fit into a table of names: patterns, regular expressions, and rules with conditions (`$dnstype`,
 * `$denyallow`, `$client`) or a custom answer (`$dnsrewrite`). The rules are stored as text in one buffer with an
 * index, so that a thread parses a rule at its first match. Layout: `SpecialRulesLayout`; built by
 * `control-plane/policy/compile/table/special-rules-builder.ts`, matched by `special-matcher.ts`.
 */
import { LAYOUT_VERSION, SPECIAL_RULES_MAGIC, SpecialRulesLayout as L, checksumWords } from './layout.ts';

/**
 * How a special rule matches a name: the name itself, the name with its subdomains, only its subdomains, a pattern or a
 * regular expression.
 */
export type SpecialMatch = 'exact' | 'suffix' | 'below' | 'pattern' | 'regex';

/** Codes of the kinds of matches that use a name, in the section of names. */
export const MatchCode = { exact: 1, suffix: 2, below: 3 } as const;

/**
 * The answer that a rule defines: a response code, an alias or a record; NOERROR without an alias or a record means
 * NODATA.
 */
export interface RewriteAnswer {
  /** `Rcode`; NOERROR if there is an alias or a record. */
  readonly rcode: number;
  /** Target of an alias, which is resolved as usual. */
  readonly host?: string;
  readonly record?: RewriteRecord;
}

/** A record of an answer. */
interface RewriteRecord {
  /** Type of the record (`RRType`). */
  readonly type: number;
  /** RDATA in hexadecimal. */
  readonly rdata: string;
}

/** Whether two answers are the same. */
export function isSameRewrite(a: RewriteAnswer, b: RewriteAnswer): boolean {
  return (
    a.rcode === b.rcode &&
    a.host === b.host &&
    a.record?.type === b.record?.type &&
    a.record?.rdata === b.record?.rdata
  );
}

/** Clients to which a rule applies: address bytes in hexadecimal (32 digits) and the prefix length. */
export interface ClientRange {
  readonly address: string;
  readonly bits: number;
}

/** One rule. Names are ASCII in lower case, without a final dot. */
export interface SpecialRule {
  /** Index of the rule's owner: a list, or for manual rules a set of groups. */
  readonly source: number;
  /** Line of the rule in its list, from 1; for manual rules the row's id. */
  readonly line: number;
  /** One `RuleKind` bit: block or allow, and whether important. */
  readonly kind: number;
  readonly match: SpecialMatch;
  /** Name, pattern or regular expression. */
  readonly text: string;
  /** The rule in the syntax of its source. */
  readonly rule: string;
  /** Query types to which the rule applies, or does not apply. */
  readonly types?: readonly number[];
  readonly exceptTypes?: readonly number[];
  /** Names to which the rule does not apply, including their subdomains. */
  readonly denyallow?: readonly string[];
  readonly clients?: readonly ClientRange[];
  readonly exceptClients?: readonly ClientRange[];
  /** Clients by MAC or by name, in lower case; see `named-clients.ts`. */
  readonly clientNames?: readonly string[];
  readonly exceptClientNames?: readonly string[];
  /** For a rule that allows: the answer whose rewrite rules it cancels; NODATA = any answer. */
  readonly rewrite?: RewriteAnswer;
  /** Whether the rule is meant to match every name; any other rule may match every name only if it has conditions. */
  readonly forEveryName?: true;
  /** Owners whose `$badfilter` rules disable this rule, in groups for which these owners are active. */
  readonly takenBackBy?: readonly number[];
}

/** Whether a rule applies only to some query types, clients or names. */
export function hasConditions(rule: Partial<SpecialRule>): boolean {
  return CONDITIONS.some((condition) => rule[condition] !== undefined);
}

const CONDITIONS = [
  'types',
  'exceptTypes',
  'denyallow',
  'clients',
  'exceptClients',
  'clientNames',
  'exceptClientNames',
] as const;

/** Number of rules in a buffer, and number of patterns and regular expressions among them. */
export interface SpecialRuleCounts {
  readonly rules: number;
  readonly textRules: number;
}

/** The buffer's words; throws a RangeError if the buffer has another layout. */
export function openSpecialRules(buffer: SharedArrayBuffer): Int32Array {
  const words = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
  if (words[L.MAGIC_WORD] !== SPECIAL_RULES_MAGIC || words[L.VERSION_WORD] !== LAYOUT_VERSION)
    throw new RangeError('could not read special rules: they have a different layout');
  return words;
}

/** Throws a RangeError if the buffer is damaged or has another layout. */
export function checkSpecialRules(buffer: SharedArrayBuffer): void {
  const words = openSpecialRules(buffer);
  const unsigned = new Uint32Array(buffer, 0, words.length);
  if (checksumWords(unsigned, L.CHECKSUM_WORD + 1) !== unsigned[L.CHECKSUM_WORD])
    throw new RangeError('could not read special rules: the checksum is wrong');
}

/** Counts the rules in a buffer. */
export function countSpecialRules(buffer: SharedArrayBuffer): SpecialRuleCounts {
  const words = openSpecialRules(buffer);
  return { rules: words[L.RULE_COUNT_WORD]!, textRules: words[L.TEXT_RULE_COUNT_WORD]! };
}

/** The rule at `index`; undefined if the index is too large. */
export function readSpecialRule(buffer: SharedArrayBuffer, index: number): SpecialRule | undefined {
  const words = openSpecialRules(buffer);
  if (index < 0 || index >= words[L.RULE_COUNT_WORD]!) return undefined;
  const at = words[L.OFFSETS_WORD]! + index;
  const start = words[at]!;
  const text = Buffer.from(buffer, start, words[at + 1]! - start).toString('utf8');
  return JSON.parse(text) as SpecialRule;
}

/** All rules, in order; for the API, not for threads. */
export function readSpecialRules(buffer: SharedArrayBuffer): SpecialRule[] {
  return Array.from({ length: countSpecialRules(buffer).rules }, (_, index) =>
    readSpecialRule(buffer, index)!,
  );
}
