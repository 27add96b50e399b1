/**
 * Matches a name against a regex rule with the code of the DNS threads. Loaded on demand because it contains a
 * compiler.
 */
import { compileExpression } from '../../../../../shared/automata/expression.ts';
import { finds } from '../../../../../shared/automata/reach.ts';
import { readRegexRule } from '../../../../../shared/automata/regex-filter.ts';

/** Outcome of a trial; `reason` becomes part of a sentence. */
export type Trial = { readonly matches: boolean } | { readonly reason: string };

/** Whether the expression, without its options, matches part of the name. */
export function tryExpression(pattern: string, name: string): Trial {
  const rule = readRegexRule(pattern);
  if ('reason' in rule) return { reason: rule.reason };
  const compiled = compileExpression(rule.expression);
  if ('reason' in compiled) return { reason: compiled.reason };
  return { matches: finds(compiled.automaton, name.trim().toLowerCase().replace(/\.$/, '')) };
}
