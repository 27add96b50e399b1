import { describe, expect, test } from '@jest/globals';
import { kindWord, parsedJson, sumsOf } from './restore-words.ts';

const names = (...given: string[]): { count: number; names: string[] } => ({
  count: given.length,
  names: given,
});

describe('sumsOf(), the number of changes by a restore,', () => {
  test('adds up all kinds of objects', () => {
    const changes = [
      { kind: 'groups', created: names('a', 'b'), changed: names(), removed: names('c') },
      { kind: 'clients', created: names('d'), changed: names('e'), removed: names() },
    ];
    expect(sumsOf({ changes })).toEqual({ created: 3, changed: 1, removed: 1 });
  });
});

describe('kindWord(), the name of a kind of objects,', () => {
  test('returns an unknown kind unchanged', () => {
    expect([kindWord('groups', (key) => `(${key})`), kindWord('moons', () => '')]).toEqual([
      '(backup.kind.groups)',
      'moons',
    ]);
  });
});

describe('parsedJson(), the content of an uploaded file,', () => {
  test('parses any JSON, and returns null for other text', () => {
    expect([parsedJson('{"a":1}'), parsedJson('PK\u0003')]).toEqual([{ a: 1 }, null]);
  });
});
