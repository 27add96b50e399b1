import { describe, expect, test } from '@jest/globals';
import { compiledFrom } from '../../../../test/support/parts/test-rules.ts';
import { ActiveSources } from './active-sources.ts';

const compiled = compiledFrom([
  { id: 1, names: [] },
  { id: 2, names: [] },
  { id: 3, names: [], fault: 'not readable' },
  { id: 4, names: [] },
]);
const row = (id: number, groupIds: number[] = [], enabled = true) => {
  return { id, name: `list ${id}`, kind: 'block' as const, enabled, groupIds };
};

describe('ActiveSources', () => {
  test('nameOf() is null for a source that is disabled, was deleted or could not be read', () => {
    const sources = new ActiveSources(compiled, { sources: [row(1), row(2, [], false), row(3)] });
    expect([0, 1, 2, 3, 4].map((index) => sources.nameOf(index))).toEqual(['list 1', null, null, null, null]);
  });

  test('areAll is true if every compiled source is active', () => {
    const readable = compiledFrom([
      { id: 1, names: [] },
      { id: 2, names: [] },
    ]);
    const areAll = (sources: ReturnType<typeof row>[]): boolean =>
      new ActiveSources(readable, { sources }).areAll;
    expect([areAll([row(1), row(2)]), areAll([row(1)]), areAll([row(1), row(2, [], false)])]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each([
    [[], [], true],
    [[], [1], true],
    [[1], [], false],
    [[1], [1], true],
    [[1, 2], [2], true],
    [[1], [1, 2], false],
    [[1], [2], false],
  ])(
    'disablesForAll() for a source with groups %j, and another source with groups %j, is %s',
    (by, from, disables) => {
      const sources = new ActiveSources(compiled, { sources: [row(1, by), row(2, from)] });
      expect(sources.disablesForAll(0, 1)).toBe(disables);
    },
  );

  test('disablesForAll() is false if one of the two sources is not active', () => {
    const sources = new ActiveSources(compiled, { sources: [row(1), row(2, [], false)] });
    expect([sources.disablesForAll(0, 1), sources.disablesForAll(1, 0)]).toEqual([false, false]);
  });
});
