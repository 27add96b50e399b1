import { describe, expect, test } from '@jest/globals';
import { ByteOp, type ByteProgram, compileProgram } from '../policy/regex.ts';
import { findDominance } from './dominance.ts';

function programOf(pattern: string): ByteProgram {
  const compiled = compileProgram(pattern);
  if (!compiled.ok) throw new Error(compiled.reason);
  return compiled.program;
}

/** The lower-case letters that an instruction reads. */
function lettersOf({ sets, args }: ByteProgram, at: number): string {
  return Array.from('abcxyz')
    .filter((letter) => sets[args[at]!]![letter.charCodeAt(0)] === 1)
    .join('');
}

/** `dominator > dominated` for each pair of positions. */
function pairsOf(pattern: string): string[] {
  const program = programOf(pattern);
  const { dominators } = findDominance(program);
  if (dominators === null) throw new Error(`${pattern}: nothing is known`);
  return dominators
    .flatMap((others, at) =>
      others.map((other) => `${lettersOf(program, other)} > ${lettersOf(program, at)}`),
    )
    .sort();
}

describe('findDominance(), which removes redundant positions of an expression,', () => {
  test('replaces a position by a position that matches more bytes', () => {
    expect(pairsOf('ax|[ab]x')).toEqual(['ab > a', 'x > x']);
  });

  test('finds no pair of positions if the rest of the expression differs', () => {
    expect(pairsOf('ax|[ab]y')).toEqual([]);
  });

  test('keeps one of two equivalent positions of the expression', () => {
    const program = programOf('(?:x.|y.)a');
    const { dominators } = findDominance(program);
    for (const [at, others] of dominators!.entries())
      for (const other of others) expect(dominators![other]).not.toContain(at);
  });

  test('does not replace a position without a following assertion by a position with a following assertion', () => {
    // Everything found after `a$` is also found after `a`, but not the other way round.
    expect(pairsOf('xa$|ya')).toEqual([]);
  });

  test.each([
    ['looks at lines', '(?m:^)ax|[ab]x'],
    ['has more than 400 places', 'a{401}'],
    ['has more than 2,000 ways between its places', '(?:a?){100}'],
  ])('finds nothing in a program that %s', (_, pattern) => {
    expect(findDominance(programOf(pattern))).toEqual({ dominators: null, work: 0 });
  });

  test('accepts a program of 400 positions, and returns the work done', () => {
    const program = programOf('a{400}');
    const places = program.ops.filter((op) => op === ByteOp.OCTET).length;
    const { dominators, work } = findDominance(program);
    expect(places).toBe(400);
    expect(dominators).toHaveLength(program.ops.length);
    expect(work).toBeGreaterThanOrEqual(places * places);
  });
});
