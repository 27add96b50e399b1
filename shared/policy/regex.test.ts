import { describe, expect, test } from '@jest/globals';
import { Assertion, ByteOp, type ByteProgram, compileProgram } from './regex.ts';

function programOf(pattern: string): ByteProgram {
  const compiled = compileProgram(pattern);
  if (!compiled.ok) throw new Error(compiled.reason);
  return compiled.program;
}

describe('compileProgram(), which compiles a regular expression,', () => {
  test('ignores the letter case', () => {
    for (const pattern of ['a', 'A', '[A-A]', '(?-i:a)']) {
      const { sets } = programOf(pattern);
      expect({ pattern, upper: sets[0]![0x41], lower: sets[0]![0x61], other: sets[0]![0x62] }).toEqual({
        pattern,
        upper: pattern === '(?-i:a)' ? 0 : 1,
        lower: 1,
        other: 0,
      });
    }
  });

  test('matches bytes as Latin-1 characters', () => {
    const [set] = programOf('[\\x{e0}-\\x{ef}]').sets;
    expect([set![0xdf], set![0xe0], set![0xef], set![0xf0]]).toEqual([0, 1, 1, 0]);
  });

  test('stores equal byte sets once', () => {
    expect(programOf('[ab]c[ab]{30}[ba]c').sets).toHaveLength(2);
  });

  test('records the conditions of assertions (start, end, word boundary)', () => {
    const { ops, args } = programOf('^a\\b.$');
    const asked = [...ops.keys()].filter((at) => ops[at] === ByteOp.ASSERT).map((at) => args[at]);
    expect(asked.sort()).toEqual([Assertion.WORD_BOUNDARY, Assertion.BEGIN_TEXT, Assertion.END_TEXT].sort());
  });

  test('returns a program with a path from the start to a match', () => {
    const { ops, outs, start } = programOf('(a)b');
    const path = [start];
    while (ops[path.at(-1)!] !== ByteOp.MATCH && path.length < 20) path.push(outs[path.at(-1)!]!);
    expect(
      path.map((at) => ops[at]).filter((op) => op !== ByteOp.JUMP && op !== ByteOp.ALTERNATIVES),
    ).toEqual([ByteOp.OCTET, ByteOp.OCTET, ByteOp.MATCH]);
  });

  test('accepts a pattern of 2,048 characters, and no longer pattern', () => {
    expect(compileProgram('a'.repeat(2048)).ok).toBe(true);
    expect(compileProgram('a'.repeat(2049))).toEqual({
      ok: false,
      reason: 'the pattern is longer than 2048 characters',
    });
  });

  test.each([
    ['', /^the pattern is empty$/],
    ['(?=a)b', /invalid/],
    ['(?<!a)b', /invalid/],
    ['(a)\\1', /invalid/],
    ['(', /./],
    ['(?:[a-z]{1000}){1000}', /./],
    ['(?:(?:a{10}){10}){100}b{900}', /too large/],
  ])('rejects %j, and reports why', (pattern, reason) => {
    expect(compileProgram(pattern)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});
