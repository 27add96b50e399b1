import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { compileProgram } from './regex.ts';
import { estimateProgramSize } from './regex-size.ts';

describe('estimateProgramSize(), the estimated size of a regular expression,', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['\\.a\\d', 3],
    ['a?b*', 4],
    ['[abc]d', 2],
    ['[]a]b', 2],
    ['[^]a]b', 2],
    ['[\\]a]b', 2],
    ['[[:alpha:]a]b', 2],
    ['[a', 1],
    // The characters after `{` are also counted as instructions.
    ['ab{3}', 1 + 4 + 2],
    ['ab{3,}', 1 + 4 + 3],
    ['ab{2,5}', 1 + 10 + 4],
    ['ab{5,2}', 1 + 10 + 4],
    ['a{x}', 1 + 2],
    ['(ab)c', 5],
    ['x(ab){3}y', 1 + 4 * 4 + 2 + 1],
    ['((ab){3}c){2}', (4 * 4 + 2 + 1 + 2) * 3 + 2],
    ['(a|b)', 5],
    ['x(ab', 3],
    ['a)b', 4],
  ])('of %s is %d', (pattern, size) => {
    expect(estimateProgramSize(pattern)).toBe(size);
  });

  test('is at least half of the real number of instructions', () => {
    const atom = fc.constantFrom('a', '[ab]', '\\.', '(?:ab)', '(a|bc)', '(?:(?:a{3}b){4})', '[[:digit:]]');
    const repeat = fc.constantFrom('', '?', '*', '+', '{3}', '{2,7}', '{0,9}', '{5,}');
    const pattern = fc
      .array(fc.tuple(atom, repeat), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(pattern, (text) => {
        const compiled = compileProgram(text);
        if (!compiled.ok) throw new Error(compiled.reason);
        expect(estimateProgramSize(text)).toBeGreaterThanOrEqual((compiled.program.ops.length - 3) / 2);
      }),
      { numRuns: 300, seed: 5 },
    );
  });
});
