import { describe, expect, test } from '@jest/globals';
import { draw, mutantsOf, mutated, shown } from './code-mutants.ts';

/** For each mutant of `text`, its kind and the changed line. */
function mutantsIn(text: string): string[] {
  return mutantsOf('a.ts', text).map((mutant) => `${mutant.kind}: ${mutated(text, mutant)}`);
}

describe('mutantsOf(), which changes code,', () => {
  test.each([
    ['f(a < b);', ['removed call: void 0;', 'boundary: f(a <= b);']],
    ['x = a >= b;', ['boundary: x = a > b;']],
    ['x = a === b;', ['comparison: x = a !== b;']],
    ['if (a) b;', ['condition: if (!(a)) b;']],
    ['if (a === b) c;', ['comparison: if (a !== b) c;']],
    ['x = a && b;', ['logic: x = a || b;']],
    ['x = a + b;', ['arithmetic: x = a - b;']],
    ['x = a >>> b;', ['arithmetic: x = a << b;']],
    ['i++;', ['arithmetic: i--;']],
    ['++i;', ['arithmetic: --i;']],
    ['x += y;', ['arithmetic: x -= y;']],
    ['x = true;', ['literal: x = false;']],
    ['x = 7;', ['literal: x = (7 + 1);']],
    ["x = 'word';", ["literal: x = '';"]],
    ["x = 'text' + y;", ["literal: x = '' + y;"]],
    ["x = '';", ["literal: x = 'mutated';"]],
    ['await g.h();', ['removed call: void 0;']],
    ['function f() { return g(); }', ['returned value: function f() { return undefined; }']],
    ['x = a ? b : c;', ['condition: x = !(a) ? b : c;']],
  ])('changes %s', (text, changed) => {
    expect(mutantsIn(text)).toEqual(changed);
  });

  test.each([
    "import a from 'a';",
    "export { a } from 'a';",
    "type A = 'a' | 1;",
    'interface A { a: true }',
    'const LIMIT = 300;',
    'const CODES = { A: 1, B: 2 } as const;',
    "throw new Error('why' + 1);",
    'return;',
    "x = y as 'word';",
  ])('does not change %s', (text) => {
    expect(mutantsIn(text)).toEqual([]);
  });

  test('returns line numbers that start at 1', () => {
    expect(mutantsOf('a.ts', 'x;\n\ny = a < b;').map(({ line }) => line)).toEqual([3]);
  });
});

describe('draw(), a random selection of mutants,', () => {
  const one = 'x = 1;\ny = 2;\nz = 3;\n';
  const other = 'f(a < b);\ng(c > d);\n';

  test('returns the same mutants for a seed, different mutants for another seed, and no more than exist', () => {
    const texts = new Map([
      ['one.ts', one],
      ['other.ts', other],
    ]);
    expect(draw(texts, 3, 1)).toEqual(draw(texts, 3, 1));
    const drawn = new Set([1, 2, 3, 4, 5].map((seed) => JSON.stringify(draw(texts, 3, seed))));
    expect(drawn.size).toBeGreaterThan(1);
    expect(draw(texts, 100, 1)).toHaveLength(7);
  });

  test('returns the same mutants after lines were added or the file was moved', () => {
    const before = draw(new Map([['a/one.ts', one]]), 2, 1).map(({ replacement, line }) => [
      replacement,
      line,
    ]);
    const after = draw(new Map([['b/one.ts', `// new\n${one}`]]), 2, 1);
    expect(after.map(({ replacement, line }) => [replacement, line - 1])).toEqual(before);
  });
});

describe('shown(), the text of a code change,', () => {
  test('returns the line before and after the change', () => {
    const text = 'a;\n  if (x < y) z;\nb;';
    const [, boundary] = mutantsOf('a.ts', text);
    expect(shown(text, boundary!)).toBe('    - if (x < y) z;\n    + if (x <= y) z;');
  });
});
