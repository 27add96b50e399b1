import { describe, expect, test } from '@jest/globals';
import { kindWord, parsedJson, sumsOf } from './restore-words.ts';

const names = (...given: string[]): { count: number; names: string[] } => ({
  count: given.length,
  names: given,
});

describe('sumsOf()', () => {
  test('adds up all kinds', () => {
    const changes = [
      { kind: 'groups', created: names('a', 'b'), changed: names(), removed: names('c') },
      { kind: 'clients', created: names('d'), changed: names('e'), removed: names() },
    ];
    expect(sumsOf({ changes })).toEqual({ created: 3, changed: 1, removed: 1 });
  });
});

describe('kindWord()', () => {
  test('shows an unknown kind by its name', () => {
    expect([kindWord('groups', (key) => `(${key})`), kindWord('moons', () => '')]).toEqual([
      '(backup.kind.groups)',
      'moons',
    ]);
  });
});

describe('parsedJson()', () => {
  test('accepts any JSON, and returns null for anything else', () => {
    expect([parsedJson('{"a":1}'), parsedJson('PK\u0003')]).toEqual([{ a: 1 }, null]);
  });
});
