import { describe, expect, test } from '@jest/globals';
import { apiRecord } from '../../../../test/support/parts/asked-pipeline.ts';
import {
  type LocalTree,
  buildLocalTree,
  findAliasLoop,
  findInTree,
  parentsOf,
  targetInTree,
} from './local-tree.ts';
import { localRecords } from './snapshot-records.ts';

/** The tree of API records, each written as `name type value`, optionally followed by ` @zone`. */
function treeOf(...lines: string[]): LocalTree {
  const rows = { localRecords: lines.map(apiRecord) };
  const records = localRecords(rows, { configRecords: [], leases: [] });
  return buildLocalTree(records.filter(({ type }) => type !== 'PTR'));
}

const found = (tree: LocalTree, name: string): string | undefined => findInTree(tree, name)?.name;
const valuesAt = (tree: LocalTree, name: string): string[] =>
  [...tree.get(name)!.sets].map(([type, set]) => `${type} ${set.map(({ value }) => value).join(' ')}`);

describe('buildLocalTree()', () => {
  test('combines the records of a name and type, without duplicate values', () => {
    const tree = treeOf('a.home A 192.0.2.1', 'a.home A 192.0.2.2', 'a.home A 192.0.2.1', 'a.home TXT "x"');
    expect(valuesAt(tree, 'a.home')).toHaveLength(2);
    expect(valuesAt(tree, 'a.home')[0]).toBe('A 192.0.2.1 192.0.2.2');
  });

  test('keeps either a CNAME or other records of a name, whichever came first', () => {
    const alias = treeOf('a.home CNAME b.home', 'a.home A 192.0.2.1', 'a.home CNAME c.home');
    expect(valuesAt(alias, 'a.home')).toEqual(['CNAME b.home']);
    const address = treeOf('a.home A 192.0.2.1', 'a.home CNAME b.home');
    expect(valuesAt(address, 'a.home')).toEqual(['A 192.0.2.1']);
  });

  test('marks names between a record and its zone as existing', () => {
    const tree = treeOf('a.b.c.home.example A 192.0.2.1 @home.example');
    expect(['b.c.home.example', 'c.home.example'].map((name) => tree.get(name)!.isEmpty)).toEqual([
      true,
      true,
    ]);
    expect(['home.example', 'example'].map((name) => tree.get(name)!.isEmpty)).toEqual([false, false]);
  });
});

describe('findInTree()', () => {
  const tree = treeOf('*.wild.home A 192.0.2.1', 'a.deep.wild.home A 192.0.2.2', 'nas.home A 192.0.2.3');

  test.each([
    ['nas.home', 'nas.home'],
    ['x.wild.home', '*.wild.home'],
    ['x.y.wild.home', '*.wild.home'],
    ['a.deep.wild.home', 'a.deep.wild.home'],
    ['deep.wild.home', '*.wild.home'],
    ['x.deep.wild.home', '*.wild.home'],
    ['x.a.deep.wild.home', '*.wild.home'],
    ['_acme-challenge.x.wild.home', undefined],
    ['wild.home', undefined],
    ['home', undefined],
    ['x.nas.home', undefined],
    ['other.example', undefined],
  ])('for %s is %s', (name, node) => {
    expect(found(tree, name)).toBe(node);
  });
});

describe('targetInTree()', () => {
  test('returns the target of a CNAME, also through a wildcard', () => {
    const tree = treeOf(
      'a.home CNAME b.home',
      'b.home A 192.0.2.1',
      'w.home CNAME x.wild.home',
      '*.wild.home A 192.0.2.2',
      'far.home CNAME www.example.org',
    );
    const target = (name: string): string | undefined => targetInTree(tree, tree.get(name)!)?.name;
    expect(['a.home', 'w.home', 'far.home', 'b.home'].map(target)).toEqual([
      'b.home',
      '*.wild.home',
      undefined,
      undefined,
    ]);
  });
});

describe('findAliasLoop()', () => {
  test.each([
    ['a CNAME that points to its own name', ['a.home CNAME a.home'], 'a.home'],
    [
      'a loop of three CNAMEs',
      ['a.home CNAME b.home', 'b.home CNAME c.home', 'c.home CNAME a.home'],
      'a.home',
    ],
    [
      'a CNAME that leads to a loop',
      ['z.home CNAME a.home', 'a.home CNAME b.home', 'b.home CNAME a.home'],
      'a.home',
    ],
    ['a loop through a wildcard', ['*.w.home CNAME x.w.home'], '*.w.home'],
  ])('finds %s', (_what, lines, name) => {
    expect(findAliasLoop(treeOf(...lines))).toBe(name);
  });

  test('finds no loop if two CNAMEs lead to the same name', () => {
    const lines = ['a.home CNAME c.home', 'b.home CNAME c.home', 'c.home CNAME d.home', 'd.home A 192.0.2.1'];
    expect(findAliasLoop(treeOf(...lines))).toBeUndefined();
    expect(findAliasLoop(treeOf())).toBeUndefined();
  });
});

describe('parentsOf()', () => {
  test('returns all names above a name, nearest first', () => {
    expect(parentsOf('a.b.c.example')).toEqual(['b.c.example', 'c.example', 'example']);
    expect(parentsOf('example')).toEqual([]);
  });
});
