/**
 * Regular expressions with RE2's syntax and its promise: matching takes time linear in the name, whatever
 * the pattern. The only importer of re2js. What must occur in every match is `regex-literals.ts`.
 */
import { RE2JS } from 're2js';

/** A compiled pattern; names are matched anywhere, in any case. */
export interface NameRegex {
  /** Whether some part of the name matches; the name as text, folded, without a final dot. */
  matches(name: string): boolean;
}

/** What compiling a pattern comes to; `reason` is the engine's, in a sentence's middle. */
export type RegexOutcome =
  { readonly ok: true; readonly regex: NameRegex } | { readonly ok: false; readonly reason: string };

/** Longest pattern that is compiled, characters. */
export const MAX_PATTERN_LENGTH = 2048;
/** Largest program of a pattern, instructions: bounds memory and the factor of linear time. */
const MAX_PROGRAM_SIZE = 20_000;

/** Compiles a pattern; look-around, back references and what else is not linear are refused. */
export function compileRegex(pattern: string): RegexOutcome {
  if (pattern === '') return { ok: false, reason: 'the pattern is empty' };
  if (pattern.length > MAX_PATTERN_LENGTH)
    return { ok: false, reason: `the pattern is longer than ${MAX_PATTERN_LENGTH} characters` };
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    if (compiled.programSize() > MAX_PROGRAM_SIZE)
      return { ok: false, reason: 'the pattern is too large: its repetitions multiply' };
    return { ok: true, regex: { matches: (name) => compiled.matcher(name).find() } };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
