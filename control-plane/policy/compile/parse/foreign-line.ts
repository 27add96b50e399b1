/**
 * Classifies a line without a rule: a rule for browsers, an unsupported syntax, or no known list syntax. This may be
 * slower than other parsers and uses strings and regular expressions, because it only gets lines without a rule. The
 * expressions have no nested repetition, so that no line takes long.
 */
import { type LineReason, lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import type { UnusedLine } from './list-statistics.ts';

/** A line that is valid but gives no rule. */
export function skippedLine(reason: LineReason): UnusedLine {
  return { invalid: false, reason };
}

/** A line that matches no list syntax. */
export function invalidLine(reason: LineReason): UnusedLine {
  return { invalid: true, reason };
}

/** Number of bytes of a line that are examined. */
const EXAMINED_BYTES = 512;

const COSMETIC = skippedLine(lineReason('cosmetic'));
const ZONE = skippedLine(lineReason('zone_syntax'));
const PATTERN = skippedLine(lineReason('unsupported_pattern'));
const MODIFIER = skippedLine(lineReason('unsupported_modifier'));
const URL_PATH = skippedLine(lineReason('url'));
const NO_RULE = invalidLine(lineReason('not_a_rule'));

const EXPLANATIONS: readonly (readonly [RegExp, UnusedLine])[] = [
  [/#[@?$%]?[@?$%]?#/, COSMETIC],
  [/^\$(?:TTL|ORIGIN)\b/i, ZONE],
  [/\s(?:CNAME|SOA|NS)\s/i, ZONE],
  [/\^?\$[~a-z]/i, MODIFIER],
  [/^https?:\/\//i, URL_PATH],
  [/^:\/\/|[*^|]/, PATTERN],
  [/^[.-][^\s/]+$/, PATTERN],
  [/^[^\s/]+\//, URL_PATH],
];

/** Reason why the line in [start, end) of `bytes` gives no rule. */
export function explainForeignLine(bytes: Uint8Array, start: number, end: number): UnusedLine {
  const line = bytes.subarray(start, Math.min(end, start + EXAMINED_BYTES));
  const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1');
  return EXPLANATIONS.find(([pattern]) => pattern.test(text))?.[1] ?? NO_RULE;
}
