import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { SMALL_ROWS } from '../../../test/support/parts/small-policy.ts';
import { compiledFrom } from '../../../test/support/parts/test-rules.ts';
import { buildSpecialRules } from '../../policy/compile/table/special-rules-builder.ts';
import { seedsOf } from '../../policy/compile/table/compiled-rules.ts';
import { safeSearchExceptions } from './safe-search-exceptions.ts';

const { ALLOW_EXACT, ALLOW_SUFFIX, BLOCK_SUFFIX, IMPORTANT_ALLOW_SUFFIX } = RuleKind;

/** Names that these lists (ids start at 1) exempt from safe search, which group 2 enforces for Google. */
function exceptions(
  lists: readonly Readonly<Record<string, number>>[],
  change: { groupIds?: number[]; enabled?: boolean; engine?: string; pattern?: string } = {},
) {
  const { groupIds = [], enabled = true, engine = 'google', pattern } = change;
  const compiled = compiledFrom(lists.map((names, at) => ({ id: at + 1, names: Object.entries(names) })));
  const rule = {
    source: 0,
    line: 1,
    kind: ALLOW_SUFFIX,
    match: 'pattern',
    text: pattern ?? '',
    rule: '',
  } as const;
  const special = buildSpecialRules(pattern === undefined ? [] : [rule], seedsOf(compiled.rules));
  const sources = lists.map((_, at) => ({
    id: at + 1,
    name: `l${at}`,
    kind: 'block' as const,
    enabled,
    groupIds,
  }));
  const safeSearch = [{ groupId: 2, engine, youtubeMode: 'strict' as const }];
  return [
    ...safeSearchExceptions({
      compiled: { ...compiled, special },
      rows: { ...SMALL_ROWS, sources, safeSearch },
    }),
  ];
}

describe('safeSearchExceptions()', () => {
  test('returns the safe search domains that a list allows by an exception for the name or a parent', () => {
    expect(exceptions([{ 'www.google.com': ALLOW_SUFFIX }])).toEqual([[1, ['www.google.com']]]);
    expect(exceptions([{}, { 'google.de': IMPORTANT_ALLOW_SUFFIX }])).toEqual([[2, ['www.google.de']]]);
    expect(exceptions([{}], { pattern: '||www.google.a*^' })).toEqual([
      [1, expect.arrayContaining(['www.google.ae'])],
    ]);
  });

  test('ignores rules that are not exceptions for safe search domains', () => {
    expect(exceptions([{ 'google.com': ALLOW_EXACT, 'www.google.com': BLOCK_SUFFIX }])).toEqual([]);
    expect(exceptions([{ 'a.www.google.com': ALLOW_SUFFIX }])).toEqual([]);
  });

  test('returns exceptions of enabled lists only if one of their groups enforces the safe search engine', () => {
    const list = [{ 'www.google.com': ALLOW_EXACT }];
    expect(exceptions(list, { groupIds: [2, 3] })).toHaveLength(1);
    expect(exceptions(list, { groupIds: [3] })).toEqual([]);
    expect(exceptions(list, { enabled: false })).toEqual([]);
    expect(exceptions(list, { engine: 'bing' })).toEqual([]);
  });
});
