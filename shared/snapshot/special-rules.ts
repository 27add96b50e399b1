/**
 * Rules that a table of names cannot hold: patterns, regular expressions, and rules with conditions
 * (`$dnstype`, `$denyallow`, `$client`) or an answer of their own (`$dnsrewrite`). There are thousands at
 * most, so they lie as text in the buffer and each thread opens them once a compile; matching is
 * `special-matcher.ts`. Layout: `SpecialRulesLayout`.
 */
import { LAYOUT_VERSION, SPECIAL_RULES_MAGIC, SpecialRulesLayout as L, checksumWords } from './layout.ts';

/** How a special rule meets a name: it itself, it and all below, only below, by pattern or by expression. */
export type SpecialMatch = 'exact' | 'suffix' | 'below' | 'pattern' | 'regex';

/** The answer that a rule gives of its own; addresses as text. Without any of them it is NODATA. */
export interface RewriteAnswer {
  /** `Rcode` NOERROR, NXDOMAIN or REFUSED. */
  readonly rcode: number;
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}

/** Clients a rule is for: address bytes in hexadecimal (32 digits) and the length of the prefix. */
export interface ClientRange {
  readonly address: string;
  readonly bits: number;
}

/** One rule. Names are ASCII, folded, without a final dot. */
export interface SpecialRule {
  /** Index of its owner: a list, or a set of groups among the manual rules. */
  readonly source: number;
  /** 1-based line in its list; for manual rules the row's id. */
  readonly line: number;
  /** One bit of `RuleKind`: says block or allow, and whether important. */
  readonly kind: number;
  readonly match: SpecialMatch;
  /** Name, pattern or expression. */
  readonly text: string;
  /** The rule as its author wrote it. */
  readonly rule: string;
  /** Question types it is for, or not for. */
  readonly types?: readonly number[];
  readonly exceptTypes?: readonly number[];
  /** Names it is not for, nor for those below. */
  readonly denyallow?: readonly string[];
  readonly clients?: readonly ClientRange[];
  readonly exceptClients?: readonly ClientRange[];
  readonly rewrite?: RewriteAnswer;
}

/** Puts rules into a buffer of their own. */
export function encodeSpecialRules(rules: readonly SpecialRule[]): SharedArrayBuffer {
  const text = Buffer.from(JSON.stringify(rules));
  const buffer = new SharedArrayBuffer((L.HEADER_WORDS * 4 + text.length + 3) & ~3);
  new Uint8Array(buffer).set(text, L.HEADER_WORDS * 4);
  const words = new Uint32Array(buffer);
  words[L.MAGIC_WORD] = SPECIAL_RULES_MAGIC;
  words[L.VERSION_WORD] = LAYOUT_VERSION;
  words[L.TEXT_BYTES_WORD] = text.length;
  words[L.CHECKSUM_WORD] = checksumWords(words, L.HEADER_WORDS);
  return buffer;
}

/** Reads what `encodeSpecialRules` wrote; throws a RangeError where it is damaged or of another layout. */
export function decodeSpecialRules(buffer: SharedArrayBuffer): readonly SpecialRule[] {
  const words = new Uint32Array(buffer, 0, buffer.byteLength >>> 2);
  const length = words[L.TEXT_BYTES_WORD];
  if (words[L.MAGIC_WORD] !== SPECIAL_RULES_MAGIC || words[L.VERSION_WORD] !== LAYOUT_VERSION)
    throw new RangeError('read special rules: not of this layout');
  if (length! > buffer.byteLength - L.HEADER_WORDS * 4)
    throw new RangeError('read special rules: shorter than its header says');
  if (checksumWords(words, L.HEADER_WORDS) !== words[L.CHECKSUM_WORD])
    throw new RangeError('read special rules: checksum is wrong');
  const bytes = Buffer.from(buffer, L.HEADER_WORDS * 4, length);
  return JSON.parse(bytes.toString('utf8')) as readonly SpecialRule[];
}
