/**
 * Lists of bare regular expressions, one POSIX extended expression per line, as published for servers that support no
 * other syntax, possibly with the options of Pi-hole. Such a line is recognised by syntax that no name and no other
 * format contains.
 */
import { hasRegexOptions, readRegexRule } from '../../../../shared/automata/regex-filter.ts';
import type { SpecialLine } from './adblock-rule.ts';
import { invalidLine } from './foreign-line.ts';
import { Sign, textBetween } from './line-bytes.ts';
import type { UnusedLine } from './list-statistics.ts';

const {
  OPEN,
  CLOSE,
  DOLLAR,
  DOT,
  STAR,
  PLUS,
  SLASH,
  QUESTION,
  BRACKET,
  BRACKET_END,
  BACKSLASH,
  CARET,
  PIPE,
  SEMICOLON,
} = Sign;
const REPEATS: ReadonlySet<number> = new Set([DOLLAR, DOT, PLUS, STAR, QUESTION, PIPE]);

/**
 * Whether the line [start, end) is an expression: a single word that starts with an anchor or contains an escaped dot,
 * brackets or an option. White space between square brackets is part of the word. Reads the bytes only once.
 */
export function looksLikeExpression(bytes: Uint8Array, start: number, end: number): boolean {
  if (!isOneWord(bytes, start, end)) return false;
  return bytes[start] === CARET || hasSignsOfExpression(bytes, start, end) || hasOptions(bytes, start, end);
}

function isOneWord(bytes: Uint8Array, start: number, end: number): boolean {
  let isInClass = false;
  let hasSpaceInClass = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (isInClass) {
      if (byte <= 0x20) hasSpaceInClass = true;
      isInClass = byte !== BRACKET_END;
      if (!isInClass) hasSpaceInClass = false;
    } else if (byte <= 0x20) return false;
    else isInClass = byte === BRACKET;
  }
  return !hasSpaceInClass;
}

/**
 * Whether the word contains an escaped dot or character class or, before any slash, an opening bracket, a closing
 * bracket and a repetition.
 */
function hasSignsOfExpression(bytes: Uint8Array, start: number, end: number): boolean {
  let isBeforeSlash = true;
  let brackets = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH && at + 1 < end && isEscaped(bytes[at + 1]!)) return true;
    if (byte === SLASH) isBeforeSlash = false;
    if (!isBeforeSlash) continue;
    if (brackets === 0) brackets = byte === OPEN || byte === BRACKET ? 1 : 0;
    else if (brackets === 1) brackets = byte === CLOSE || byte === BRACKET_END ? 2 : 1;
    else if (REPEATS.has(byte)) return true;
  }
  return false;
}

function hasOptions(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes.subarray(start, end).includes(SEMICOLON) && hasRegexOptions(textBetween(bytes, start, end));
}

/** Whether the byte is `.`, `d` or `w`. */
function isEscaped(byte: number): boolean {
  return byte === DOT || byte === 0x64 || byte === 0x77;
}

/**
 * The rule for an expression, which may match anywhere in a name; `kind` is its action. Returns a reason if the options
 * of the expression cannot be used. Whether the expression is valid is only checked by the compiler.
 */
export function readExpressionLine(line: string, kind: number): SpecialLine | UnusedLine {
  const rule = readRegexRule(line);
  if ('reason' in rule) return invalidLine(rule.reason);
  return { kind, match: 'regex', text: rule.expression, rule: line, ...rule.options };
}
