import { describe, expect, test } from '@jest/globals';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapDomains } from './map-rules.ts';

/** The plan of domains, all in one group. */
function planOf(...domains: (readonly [type: number, domain: string, enabled?: boolean])[]) {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'rules', 'rules');
  const rows = domains.map(([type, domain, enabled = true], id) => ({
    id,
    type,
    domain,
    enabled,
    comment: '',
  }));
  mapDomains({ builder, lists, groupsOf: () => ['A'] }, rows);
  lists.finish();
  return builder.finish('pihole');
}

describe('mapDomains()', () => {
  test('makes a managed domain of a wildcard, unless a regex could allow what it denies', () => {
    const wildcard = [3, '(\\.|^)a\\.example$'] as const;
    expect(planOf(wildcard).document).toMatchObject({
      managed_domains: [{ domain: '*.a.example', action: 'deny' }],
      regex_filters: [],
    });
    expect(planOf(wildcard, [2, '^good\\.']).document).toMatchObject({
      managed_domains: [],
      regex_filters: [
        { pattern: wildcard[1], action: 'deny' },
        { pattern: '^good\\.', action: 'allow' },
      ],
    });
    expect(planOf(wildcard, [2, '^good\\.', false]).document.managed_domains).toHaveLength(1);
  });

  test('tells that an exact deny decides over an allow regex', () => {
    const plan = planOf([1, 'a.example'], [2, '^good\\.']);
    expect(plan.items.at(-1)).toMatchObject({
      name: 'allow regexes over exact denies',
      result: 'not_mapped',
    });
  });

  test('writes options as modifiers of a rule in a list', () => {
    const { document, origins } = planOf(
      [3, 'a\\.example$;querytype=A,AAAA;reply=REFUSED'],
      [2, 'b\\.example$;querytype=!TYPE65'],
      [3, 'c\\.example$;reply=2001:db8::1', false],
    );
    const { list_sources: sources } = document;
    expect(sources).toMatchObject([{ groups: ['A'], url: 'text:rules' }]);
    expect(origins.list_sources).toEqual([[0, 1, 2]]);
    expect(sources[0]!.text!.split('\n')).toEqual([
      '! rules',
      '/a\\.example$/$dnstype=A|AAAA,dnsrewrite=REFUSED',
      '@@/b\\.example$/$dnstype=~TYPE65',
      '! /c\\.example$/$dnsrewrite=2001:db8::1',
      '',
    ]);
  });

  test('has no equivalent for unknown types, replies and options', () => {
    const { items } = planOf(
      [9, 'a'],
      [3, 'a;querytype=NOPE'],
      [3, 'a;reply=IP'],
      [3, 'a;x'],
      [3, '[;reply=REFUSED'],
    );
    expect(items.map(({ result }) => result)).toEqual(Array(5).fill('not_mapped'));
  });
});
