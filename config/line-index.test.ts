import { describe, expect, test } from '@jest/globals';
import { indexLines } from './line-index.ts';

const TEXT = `# a = 1
top = 1
[a]
  b . "c.d" = "x # no [comment]"
e = """
f = 1
[g]
"""
h = [ # list
  "]", ']',
  { i = 1 },
]
j = '''k
l = 1'''
[a.m] # table
n = 'C:\\' # ends here
o = "\\"" # and here
[[p]]
q = 1
[[p]]
q = 1
[p.r]
s = 1
[[p.t]]
u = 1
`;

describe('indexLines()', () => {
  const lines = indexLines(TEXT);

  test.each([
    ['top', 2],
    ['a', 3],
    ['a.b.c.d', 4],
    ['a.e', 5],
    ['a.h', 9],
    ['a.j', 13],
    ['a.m', 15],
    ['a.m.n', 16],
    ['a.m.o', 17],
    ['p[0]', 18],
    ['p[0].q', 19],
    ['p[1]', 20],
    ['p[1].q', 21],
    ['p[1].r.s', 23],
    ['p[1].t[0].u', 25],
  ])('finds %s on line %d', (path, line) => {
    expect(lines.lineOf(path)).toBe(line);
  });

  test('finds no keys inside strings, lists and comments', () => {
    for (const path of ['f', 'a.f', 'g', 'l', 'a.l', '# a', 'a.i'])
      expect(lines.lineOf(`x.${path}`)).toBeUndefined();
    expect(lines.lineOf('g')).toBeUndefined();
    expect(lines.lineOf('f')).toBeUndefined();
  });

  test('returns the line of the enclosing table for a key without a line', () => {
    expect(lines.lineOf('a.h[2].i')).toBe(9);
    expect(lines.lineOf('p')).toBe(18);
    expect(lines.lineOf('p[1].nothing')).toBe(20);
    expect(lines.lineOf('nothing.here')).toBeUndefined();
  });

  test('finds the second definition of a key', () => {
    const twice = indexLines('[a]\nb = 1\nb = 2\n[a]\n');
    expect([twice.lineOfRepeat('a.b'), twice.lineOfRepeat('a'), twice.lineOfRepeat('c')]).toEqual([
      3,
      4,
      undefined,
    ]);
  });

  test('terminates for text that is not TOML', () => {
    for (const text of [
      '[',
      '"""',
      'a = [',
      'a = """x',
      '====',
      '[[',
      "a = '",
      '\n\n=',
      'a'.repeat(50_000),
    ]) {
      expect(indexLines(text).lineOf('zz')).toBeUndefined();
    }
  });
});
