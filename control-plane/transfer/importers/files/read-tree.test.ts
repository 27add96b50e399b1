import { describe, expect, test } from '@jest/globals';
import { readJson, readYaml } from './read-tree.ts';

const yaml = (text: string) => readYaml('a.yaml', Buffer.from(text));
const LEVEL = (name: string, below: string) => `${name}: &${name} [${Array(9).fill(below).join(', ')}]\n`;

describe('readYaml()', () => {
  test('reads values, aliases and merge keys', () => {
    const tree = yaml('base: &base {x: 1, y: two}\nown:\n  <<: *base\n  y: 3\nlist: [a, 1, true]\n');
    expect([tree.count('own.x'), tree.text('own.y'), tree.texts('list')]).toEqual([1, '3', ['a', '1']]);
    expect([tree.has('own.z'), tree.flag('own.x'), tree.list('own')]).toEqual([false, undefined, []]);
  });

  test.each([
    [
      'a "billion laughs" document',
      LEVEL('a', 'x') + LEVEL('b', '*a') + LEVEL('c', '*b') + LEVEL('d', '*c') + LEVEL('e', '*d'),
    ],
    ['hundreds of aliases', `a: &a 1\nb: [${'*a, '.repeat(200)}1]`],
    ['a list that contains itself', 'a: &a [*a]'],
    ['a table that contains itself', 'a: &a\n  b: *a'],
    ['an alias without an anchor', 'a: *b'],
    ['thousands of brackets', `${'['.repeat(3000)}${']'.repeat(3000)}`],
    [
      'hundreds of nested tables',
      Array.from({ length: 100 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
    ],
    ['a duplicate key', 'a: 1\na: 2'],
    ['a string without an end', 'password: "hunter2'],
  ])('refuses %s, and quotes no part of it', (_what, text) => {
    expect(() => yaml(text)).toThrow(/a\.yaml/);
    expect(() => yaml(text)).not.toThrow(/hunter2/);
  });

  test('reports the line of an error, and refuses a file that is too large', () => {
    expect(() => yaml('a: 1\nb: [')).toThrow('a.yaml, line 2');
    expect(() => readYaml('a.yaml', Buffer.alloc(9_000_000, 0x20))).toThrow('too large');
  });

  test('treats keys such as __proto__ as ordinary keys', () => {
    const tree = yaml('__proto__: {flag: true}\nconstructor: 1\n');
    expect([tree.flag('flag'), tree.flag('__proto__.flag'), tree.text('toString')]).toEqual([
      undefined,
      true,
      undefined,
    ]);
  });
});

describe('readJson()', () => {
  test('reads values, and refuses invalid JSON and JSON that is too large', () => {
    expect(readJson('a.json', Buffer.from('\ufeff{"a": [1]}')).texts('a')).toEqual(['1']);
    expect(() => readJson('a.json', Buffer.from('{'))).toThrow('a.json is not JSON');
    expect(() => readJson('a.json', Buffer.from('['.repeat(70) + ']'.repeat(70)))).toThrow(
      'nested too deeply',
    );
    expect(() => readJson('a.json', Buffer.from(`[${'0,'.repeat(1_000_001)}0]`))).toThrow('too many values');
  });
});
