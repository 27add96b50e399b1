import { describe, expect, test } from '@jest/globals';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapDomains, type RuleParts } from './map-rules.ts';

/** The plan of domains, all in one group. */
function planOf(
  domains: readonly (readonly [type: number, domain: string, enabled?: boolean])[],
  given: Partial<Pick<RuleParts, 'hasAllowlist' | 'blockingAddresses'>> = {},
) {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'rules', 'rules');
  const rows = domains.map(([type, domain, enabled = true], id) => ({
    id,
    type,
    domain,
    enabled,
    comment: '',
  }));
  const groupsOf = (): string[] => ['A'];
  mapDomains({ builder, lists, groupsOf, hasAllowlist: false, blockingAddresses: [], ...given }, rows);
  lists.finish();
  return builder.finish('pihole');
}

/** The lines of the generated list. */
function linesOf({ document }: ReturnType<typeof planOf>): string[] {
  return (document.list_sources[0]?.text ?? '').split('\n').slice(1, -1);
}

describe('mapDomains()', () => {
  test('turns a wildcard into a managed domain, unless a regex could allow a name that it denies', () => {
    const wildcard = [3, '(\\.|^)a\\.example$'] as const;
    expect(planOf([wildcard]).document).toMatchObject({
      managed_domains: [{ domain: '*.a.example', action: 'deny' }],
      regex_filters: [],
    });
    expect(planOf([wildcard, [2, '^good\\.']]).document).toMatchObject({
      managed_domains: [],
      regex_filters: [
        { pattern: wildcard[1], action: 'deny' },
        { pattern: '^good\\.', action: 'allow' },
      ],
    });
    expect(planOf([wildcard, [2, '^good\\.', false]]).document.managed_domains).toHaveLength(1);
  });

  test('turns an exact deny into a regex filter only if a regex allows the name', () => {
    const { document, items } = planOf([
      [1, 'good.example'],
      [1, 'bad.example'],
      [2, '^good\\.'],
    ]);
    expect(document.managed_domains).toMatchObject([{ domain: 'bad.example', action: 'deny' }]);
    expect(document.regex_filters).toMatchObject([
      { pattern: '^good\\.example$', action: 'deny' },
      { pattern: '^good\\.', action: 'allow' },
    ]);
    expect(items.filter(({ result }) => result !== null)).toEqual([]);
  });

  test('writes denying regexes as rules of a custom list if there is an allowlist', () => {
    const plan = planOf(
      [
        [3, 'rex'],
        [3, '(\\.|^)conv\\.example$'],
        [3, 'a\\.example$;querytype=A'],
        [3, 'off', false],
        [2, '^fine'],
        [1, 'exact.example'],
      ],
      { hasAllowlist: true },
    );
    expect(linesOf(plan)).toEqual([
      '/rex/$important',
      '||conv.example^$important',
      '/a\\.example$/$dnstype=A,important',
      '! /off/$important',
    ]);
    expect(plan.document.regex_filters).toMatchObject([{ pattern: '^fine', action: 'allow' }]);
    expect(plan.document.managed_domains).toMatchObject([{ domain: 'exact.example' }]);
  });

  test('keeps options that a regex filter supports, and writes a regex with other options as a list rule', () => {
    const plan = planOf([
      [3, 'a\\.example$;querytype=A,AAAA;reply=REFUSED'],
      [2, 'b\\.example$;querytype=!HTTPS'],
      [3, 'c\\.example$;reply=2001:db8::1', false],
      [3, 'd\\.example$;reply=10.9.8.7;reply=fd00::7'],
      [3, 'e\\.example$;reply=CNAME,f.example'],
      [3, 'g\\.example$;;'],
    ]);
    expect(plan.document.regex_filters.map(({ pattern, enabled }) => [pattern, enabled])).toEqual([
      ['a\\.example$;querytype=A,AAAA;reply=REFUSED', true],
      ['b\\.example$;querytype=!HTTPS', true],
      ['c\\.example$;reply=2001:db8::1', false],
      ['g\\.example$', true],
    ]);
    expect(linesOf(plan)).toEqual([
      '/d\\.example$/$dnsrewrite=10.9.8.7',
      '/d\\.example$/$dnsrewrite=fd00::7',
      '/e\\.example$/$dnsrewrite=NOERROR;CNAME;f.example',
    ]);
    expect(plan.origins.list_sources).toEqual([[3, 4]]);
  });

  test('denies names that Pi-hole answers with its own address or not at all', () => {
    const denies = [
      [3, 'own;reply=IP'],
      [3, 'none;reply=NONE'],
    ] as const;
    const plan = planOf(denies);
    expect(plan.document.regex_filters.map(({ pattern }) => pattern)).toEqual(['own', 'none']);
    expect(plan.items.filter(({ result }) => result === 'differs')).toHaveLength(2);
    const known = planOf(denies, { blockingAddresses: ['192.0.2.80'] });
    expect(known.document.regex_filters[0]).toMatchObject({ pattern: 'own;reply=192.0.2.80' });
  });

  test('writes .* for a regex that matches every name', () => {
    expect(planOf([[3, '*']]).document.regex_filters).toMatchObject([{ pattern: '.*' }]);
    expect(planOf([[3, '^']]).document.regex_filters).toMatchObject([{ pattern: '.*' }]);
    expect(planOf([[3, '^$']]).items).toMatchObject([{ result: 'not_mapped' }]);
  });

  test('reports whether omitted rules deny or allow', () => {
    const { items } = planOf([
      [9, 'a'],
      [3, 'a;querytype=NOPE'],
      [3, 'a;querytype=OTHER'],
      [3, 'a;x'],
      [3, 'a;invert'],
      [2, '['],
      [3, '[;reply=REFUSED'],
      [2, '(a)\\1'],
    ]);
    const reasons = items.map(({ name, result, reason }) => [name, result, reason?.split(';')[0]]);
    expect(reasons).toEqual([
      ['a;querytype=NOPE', 'not_mapped', 'it denies'],
      ['a;querytype=OTHER', 'not_mapped', 'it denies'],
      ['a;x', 'not_mapped', 'it denies'],
      ['a;invert', 'not_mapped', 'it denies'],
      ['[', 'not_mapped', 'it allows'],
      ['[;reply=REFUSED', 'not_mapped', 'it denies'],
      ['(a)\\1', 'not_mapped', 'it allows'],
      ['a', 'not_mapped', 'a domain of an unknown type'],
    ]);
  });
});
