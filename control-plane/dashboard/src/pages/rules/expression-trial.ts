/** Tries a name against an expression, with the code that DNS uses. Loaded when somebody tries: it has a compiler. */
import { compileExpression } from '../../../../../shared/automata/expression.ts';

/** What came of it; `reason` is text for the middle of a sentence. */
export type Trial = { readonly matches: boolean } | { readonly reason: string };

/** Whether the expression is found in the name. */
export function tryExpression(pattern: string, name: string): Trial {
  const compiled = compileExpression(pattern);
  if ('reason' in compiled) return { reason: compiled.reason };
  const { start, classOf, classCount, next, found, foundAtEnd } = compiled.automaton;
  let state = start;
  for (const letter of name.trim().toLowerCase().replace(/\.$/, '')) {
    if (found[state] !== 0) return { matches: true };
    const octet = letter.codePointAt(0)!;
    if (octet > 0xff) return { matches: false };
    state = next[state * classCount + classOf[octet]!]!;
  }
  return { matches: found[state] !== 0 || foundAtEnd[state] !== 0 };
}
