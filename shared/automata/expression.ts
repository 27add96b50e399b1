/** Compiles regular expressions to automata; the cost is limited and reported. */
import { compileProgram } from '../policy/regex.ts';
import { type Determinized, determinize } from './determinize.ts';

/** Maximum work for one expression, see `Determinized`: about 50 ms. */
const MAX_WORK = 1_000_000;
/** Work of compiling, without determinizing: per pattern, and per instruction. */
const WORK_OF_PATTERN = 2_000;
const WORK_OF_INSTRUCTION = 40;

/**
 * Compiles an expression in RE2 syntax, for names as Latin-1 text in lower case without a final dot. The text of
 * `reason` fits into the middle of a sentence.
 */
export function compileExpression(pattern: string): Determinized {
  const compiled = compileProgram(pattern);
  if (!compiled.ok) return { reason: compiled.reason, work: WORK_OF_PATTERN };
  const work = WORK_OF_PATTERN + compiled.program.ops.length * WORK_OF_INSTRUCTION;
  const made = determinize(compiled.program, MAX_WORK);
  return { ...made, work: made.work + work };
}
