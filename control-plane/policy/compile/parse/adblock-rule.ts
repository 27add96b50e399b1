/**
 * Parses Adblock-style rules other than `||name^`: other anchors, patterns, regular expressions, and modifiers. A rule
 * with an unknown part is rejected as a whole, with the reason, because without this part, the rule could match more
 * names than intended. Works on text; `line-rules.ts` handles simple rules itself.
 */
import { domainToASCII } from 'node:url';
import { addressFromText, addressToText } from '../../../../shared/net/ip.ts';
import { isMeantForEveryName } from '../../../../shared/automata/regex-filter.ts';
import { hasLetters, readNamePattern } from '../../../../shared/policy/name-pattern.ts';
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { requiredLiterals } from '../../../../shared/policy/regex-literals.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import type { SpecialMatch, SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import { type Modifiers, readModifiers } from '../modifiers/adblock-modifiers.ts';
import { invalidLine, skippedLine } from './foreign-line.ts';
import type { UnusedLine } from './list-statistics.ts';

/** A parsed special rule; the reader of the list adds source and line. */
export type SpecialLine = Omit<SpecialRule, 'source' | 'line'>;

/** A rule that disables other rules with the same text. */
export interface BadFilter {
  /** Text of the rules that it disables, as in `SpecialLine.rule`. */
  readonly rule: string;
  /** Name and kind of these rules, if they are in the table of names. */
  readonly name: string | null;
  readonly kind: number;
}

/** The result of parsing a line. */
export type AdblockOutcome =
  | { readonly type: 'name'; readonly name: string; readonly kind: number }
  | { readonly type: 'special'; readonly rule: SpecialLine }
  | { readonly type: 'badfilter'; readonly badFilter: BadFilter }
  | { readonly type: 'unused'; readonly unused: UnusedLine };

const COSMETIC = skippedLine(lineReason('cosmetic'));
const URL_PATH = skippedLine(lineReason('url'));
const URL_REGEX = skippedLine(lineReason('url_regex'));
const TOO_SHORT = skippedLine(lineReason('short_pattern'));
const NOT_A_NAME = invalidLine(lineReason('not_a_name'));
const NO_RULE = invalidLine(lineReason('not_a_rule'));

/** Maximum length of a pattern or name, in characters; a valid name has at most 253. */
const MAX_PLACE_LENGTH = 1024;
/** A URL scheme and its separator, which mark the start of a name. */
const SCHEME = /^\|?(?:https?)?:\/\//;
/** Minimum length of a pattern without conditions; AdGuard also rejects shorter ones. */
const MIN_PATTERN_LENGTH = 3;
/** Prefixes of a name, the match that each one means, and the text that must follow the name. */
const SHAPES: readonly (readonly [string, SpecialMatch, RegExp])[] = [
  ['||*.', 'below', /^\^\|?\*?$/],
  ['*.', 'below', /^\^\|?$/],
  ['.', 'below', /^\^\|?$/],
  ['||', 'suffix', /^\^\|?\*?$/],
  ['|', 'exact', /^[\^|]+$/],
];
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads a line; `allow`: the list is an allowlist; `isCustom`: users wrote the list in Weir. */
export function readAdblockRule(line: string, allow: boolean, isCustom = false): AdblockOutcome {
  const exception = line.startsWith('@@');
  const body = exception ? line.slice(2) : line;
  const expression = splitExpression(body);
  if (expression === null && /#[@?$%]?[@?$%]?#/.test(body)) return unused(COSMETIC);
  const [written, options] = expression ?? splitOptions(body);
  // Modifiers without a pattern apply to every name.
  const text = written === '' && options !== '' ? '*' : written;
  if (text === '' || (expression === null && /\s/.test(text))) return unused(NO_RULE);
  const modifiers = readModifiers(options);
  if (typeof modifiers === 'string') return unused(skippedLine(modifiers));
  const place = expression === null ? readPlace(text) : readExpression(text);
  if ('invalid' in place) return unused(place);
  const isMeant = isCustom && isMeantForEveryName(place);
  if (expression === null && !isMeant && isTooWide(place, modifiers)) return unused(TOO_SHORT);
  const allows = allow || exception;
  return ruleOf(
    place,
    modifiers,
    allows,
    ruleText(exception, expression === null ? text : `/${text}/`, modifiers),
  );
}

/** Whether a pattern matches almost every name, without a condition on queries or clients. */
function isTooWide({ match, text }: Place, { hasConditions }: Modifiers): boolean {
  if (match !== 'pattern' || hasConditions) return false;
  const pattern = readNamePattern(text);
  return text.length < MIN_PATTERN_LENGTH || typeof pattern === 'string' || !hasLetters(pattern);
}

interface Place {
  readonly match: SpecialMatch;
  readonly text: string;
}

function ruleOf(place: Place, modifiers: Modifiers, allows: boolean, rule: string): AdblockOutcome {
  const { important, badfilter } = modifiers;
  const conditional =
    modifiers.rewrite !== undefined || modifiers.hasConditions || (important && place.match !== 'suffix');
  const isName = !conditional && place.match !== 'pattern' && place.match !== 'regex';
  const kind = isName ? nameKind(place.match, important, allows) : nameKind('suffix', important, allows);
  if (badfilter) return { type: 'badfilter', badFilter: { rule, name: isName ? place.text : null, kind } };
  if (isName) return { type: 'name', name: place.text, kind };
  return { type: 'special', rule: { kind, ...place, rule, ...modifiers.conditions } };
}

function nameKind(match: SpecialMatch, important: boolean, allows: boolean): number {
  if (important) return allows ? RuleKind.IMPORTANT_ALLOW_SUFFIX : RuleKind.IMPORTANT_BLOCK_SUFFIX;
  if (match === 'exact') return allows ? RuleKind.ALLOW_EXACT : RuleKind.BLOCK_EXACT;
  if (match === 'below') return allows ? RuleKind.ALLOW_BELOW : RuleKind.BLOCK_BELOW;
  return allows ? RuleKind.ALLOW_SUFFIX : RuleKind.BLOCK_SUFFIX;
}

/** A regular expression between slashes, and the text after the `$` that follows it; null for any other text. */
function splitExpression(body: string): [string, string] | null {
  if (!body.startsWith('/')) return null;
  if (body.endsWith('/')) return body.length > 2 ? [body.slice(1, -1), ''] : null;
  const at = body.lastIndexOf('/$');
  return at > 1 ? [body.slice(1, at), body.slice(at + 2)] : null;
}

/** The text before and after the first `$`. */
function splitOptions(body: string): [string, string] {
  const at = body.indexOf('$');
  return at < 0 ? [body, ''] : [body.slice(0, at), body.slice(at + 1)];
}

function readPlace(source: string): Place | UnusedLine {
  // This limit also bounds the time that the regular expressions below and pattern matching take.
  if (source.length > MAX_PLACE_LENGTH) return NOT_A_NAME;
  const scheme = SCHEME.exec(source);
  // Without a bar or a separator, text that begins with a scheme is a URL.
  if (scheme?.[0].startsWith('http') === true && !source.endsWith('^')) return URL_PATH;
  const anchored = scheme === null ? source : `|${source.slice(scheme[0].length)}`;
  // `/*` matches any path, so the name ends before the slash.
  const text = toAscii(anchored.replace(/\/\*$/, '^').toLowerCase());
  if (text === null) return NOT_A_NAME;
  const address = addressFromText(withoutAnchors(text));
  if (address !== null) return { match: 'exact', text: addressToText(address) };
  if (/[/:?=&]/.test(text)) return URL_PATH;
  const plain = readPlainName(text);
  if (plain !== null) {
    const name = plain.text;
    if (name.length > 253) return NOT_A_NAME;
    if (!/(?:^|\.)\d+$/.test(name)) return plain;
    return addressFromText(name) === null ? NOT_A_NAME : { match: 'exact', text: name };
  }
  const pattern = readNamePattern(text);
  return typeof pattern === 'string' ? skippedLine(pattern) : { match: 'pattern', text };
}

/** The ASCII form of a pattern whose name is internationalised; null if it has none. */
function toAscii(text: string): string | null {
  // eslint-disable-next-line no-control-regex -- the point is what lies outside of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  let start = 0;
  let end = text.length;
  while ('|*.'.includes(text[start]!)) start++;
  while (end > start && '|*^'.includes(text[end - 1]!)) end--;
  const written = text.slice(start, end);
  const name = /[|*^]/.test(written) ? '' : domainToASCII(written);
  return name === '' ? null : text.slice(0, start) + name + text.slice(end);
}

/** The text without leading bars, and without trailing bars and carets. */
function withoutAnchors(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === '|') start++;
  while (end > start && '^|'.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** A pattern that consists of a name only; null for others. */
function readPlainName(text: string): Place | null {
  const shape = SHAPES.find(([prefix]) => text.startsWith(prefix));
  // Without an anchor, the text may match anywhere in a name.
  if (shape === undefined) return null;
  const [head, match, tail] = shape;
  let end = head.length;
  while (end < text.length && isOfNames(text.charCodeAt(end))) end++;
  const name = text.slice(head.length, text[end - 1] === '.' ? end - 1 : end);
  if (!tail.test(text.slice(end)) || !name.split('.').every((label) => LABEL.test(label))) return null;
  return { match, text: name };
}

/** Whether the character with this code is in `[a-z0-9._-]`. */
function isOfNames(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2e ||
    code === 0x2d
  );
}

/** Most expressions for URLs are recognized by their literals, without compiling them. */
function readExpression(text: string): Place | UnusedLine {
  const literals = text.includes('/') ? requiredLiterals(text) : null;
  if (literals !== null && literals.length > 0 && literals.every((literal) => literal.includes('/')))
    return URL_REGEX;
  return { match: 'regex', text };
}

/** The rule as written, without `$badfilter`, and with its modifiers in a canonical order. */
function ruleText(exception: boolean, text: string, { written }: Modifiers): string {
  const options = [...written].sort().join(',');
  return `${exception ? '@@' : ''}${text}${options === '' ? '' : `$${options}`}`;
}

function unused(line: UnusedLine): AdblockOutcome {
  return { type: 'unused', unused: line };
}
