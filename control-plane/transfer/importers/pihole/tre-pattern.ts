/**
 * Pi-hole's regular expressions are those of TRE, POSIX extended with additions; Weir's are RE2's. Most patterns are
 * both. The others are rewritten where that is exact, else they have no equivalent. Pure.
 */

/** The same pattern for RE2, or why RE2 has no such pattern. */
export type ReadPattern = { readonly pattern: string } | { readonly reason: string };

/** Words `\<` and `\>`, back references, and approximate matching. */
const FOREIGN_ESCAPES = /[<>1-9]/;
const ONLY_NAME = /^\(\\\.\|\^\)((?:[a-z0-9_-]|\\\.)+)\$$/i;

/** Rewrites a pattern; the caller finds out whether it compiles. */
export function fromTre(pattern: string): ReadPattern {
  let written = '';
  let at = 0;
  while (at < pattern.length) {
    const rest = pattern.slice(at);
    const part = partAt(rest);
    if ('reason' in part) return part;
    written += part.pattern;
    at += part.length;
  }
  return { pattern: written };
}

function partAt(rest: string): { pattern: string; length: number } | { reason: string } {
  if (rest.startsWith('\\')) {
    const next = rest[1] ?? '';
    if (FOREIGN_ESCAPES.test(next))
      return { reason: `it uses \\${next}, which is not linear in time or unknown` };
    return { pattern: rest.slice(0, 2), length: 2 };
  }
  if (rest.startsWith('[')) return bracketAt(rest);
  const repetition = /^\{([^}]*)\}/.exec(rest);
  if (repetition === null) return { pattern: rest[0]!, length: 1 };
  if (!/^\d*,?\d*$/.test(repetition[1]!)) return { reason: 'it matches approximately' };
  // RE2 takes `{,3}` as text.
  return { pattern: repetition[0].replace('{,', '{0,'), length: repetition[0].length };
}

/** A backslash within brackets stands for itself in POSIX; in RE2 it escapes what follows. */
function bracketAt(rest: string): { pattern: string; length: number } | { reason: string } {
  let at = rest[1] === '^' ? 2 : 1;
  if (rest[at] === ']') at++;
  let written = rest.slice(0, at).replace(']', '\\]');
  for (;;) {
    const named = /^\[([:.=])([^\]]*)\1\]/.exec(rest.slice(at));
    if (named !== null) {
      if (named[1] !== ':') return { reason: 'it names a collating element' };
      written += named[0];
      at += named[0].length;
      continue;
    }
    const letter = rest[at];
    if (letter === undefined) return { reason: 'its brackets do not end' };
    at++;
    if (letter === ']') return { pattern: `${written}]`, length: at };
    written += letter === '\\' || letter === '[' ? `\\${letter}` : letter;
  }
}

/** The name of a pattern that stands for a name and all below it, as Pi-hole's own page writes it; else null. */
export function wildcardName(pattern: string): string | null {
  const name = ONLY_NAME.exec(pattern)?.[1]?.replaceAll('\\.', '.');
  return name === undefined || name.startsWith('.') || name.endsWith('.') ? null : name;
}
