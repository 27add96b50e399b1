import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../../../shared/dns/name.ts';
import { SafeSearchMode } from '../../../../shared/snapshot/safe-search-modes.ts';
import { safeSearchRules } from './name-rules-builder.ts';

const on = (groupId: number, engine: string, youtubeMode: 'strict' | 'moderate' = 'strict') => {
  return { groupId, engine, youtubeMode };
};
const group = (id: number, enabled = true) => ({ id, enabled });
/** The mode of each engine in a mask. */
const modesOf = (mask: number, engines: number): number[] =>
  Array.from({ length: engines }, (_, engine) => (mask >>> (engine * 2)) & 3);

describe('safeSearchRules()', () => {
  test('returns the engines that some group enforces, and their names', () => {
    const { engines, groups } = safeSearchRules({ groups: [group(1)], safeSearch: [on(1, 'google')] });
    expect(engines.map(({ id }) => id)).toEqual(['google']);
    expect(engines[0]!.names.map(nameToText)).toContain('www.google.com');
    expect(nameToText(engines[0]!.strict.cname!)).toBe('forcesafesearch.google.com');
    expect(groups).toEqual([{ id: 1, mask: SafeSearchMode.strict }]);
  });

  test('returns a separate mode for YouTube, and strict mode for all other engines', () => {
    const rows = {
      groups: [group(1), group(5)],
      safeSearch: [on(1, 'youtube', 'moderate'), on(5, 'youtube'), on(5, 'google', 'moderate')],
    };
    const { engines, groups } = safeSearchRules(rows);
    const place = engines.findIndex(({ id }) => id === 'youtube');
    const modes = new Map(groups.map(({ id, mask }) => [id, modesOf(mask, engines.length)]));
    expect(modes.get(1)![place]).toBe(SafeSearchMode.moderate);
    expect(modes.get(1)![1 - place]).toBe(SafeSearchMode.off);
    expect(modes.get(5)).toEqual([SafeSearchMode.strict, SafeSearchMode.strict]);
    expect(nameToText(engines[place]!.moderate.cname!)).not.toBe(nameToText(engines[place]!.strict.cname!));
  });

  test('gives a disabled or missing group the engines of Default', () => {
    const safeSearch = [on(1, 'google'), on(5, 'bing')];
    expect(
      safeSearchRules({ groups: [group(1), group(5, false)], safeSearch }).groups.map(({ id }) => id),
    ).toEqual([1, 5]);
    const { engines, groups } = safeSearchRules({ groups: [group(5, false), group(6)], safeSearch });
    const google = engines.findIndex(({ id }) => id === 'google');
    const mask = SafeSearchMode.strict << (google * 2);
    expect(groups).toEqual([
      { id: 1, mask },
      { id: 5, mask },
    ]);
  });

  test('skips unknown engines', () => {
    const rules = safeSearchRules({ groups: [group(1)], safeSearch: [on(1, 'nothing')] });
    expect(rules).toEqual({ engines: [], groups: [] });
  });
});
