/**
 * Lists of bare regular expressions, one POSIX extended expression a line, as they are published for
 * servers that know no other syntax. Such a line is known by what no name and no other syntax has.
 */
import { compileRegex } from '../../shared/policy/regex.ts';
import type { SpecialLine } from './adblock-rule.ts';
import { invalidLine } from './foreign-line.ts';
import type { UnusedLine } from './list-statistics.ts';

/** Whether a line is an expression: one word, with an anchor at its start, an escaped dot, or brackets in it. */
export function looksLikeExpression(line: string): boolean {
  if (/\s/.test(line.replaceAll(/\[[^\]]*\]/g, ''))) return false;
  return line.startsWith('^') || /\\[.dw]/.test(line) || /^[^/]*[([][^/]*[)\]][^/]*[$.+*?|]/.test(line);
}

/**
 * The rule of an expression that matches anywhere in a name, `kind` being what it does. What the linear-time
 * engine refuses (look-around, back references) is told.
 */
export function readExpressionLine(line: string, kind: number): SpecialLine | UnusedLine {
  const outcome = compileRegex(line);
  if (!outcome.ok) return invalidLine(`regular expression: ${outcome.reason}`);
  return { kind, match: 'regex', text: line, rule: line };
}
