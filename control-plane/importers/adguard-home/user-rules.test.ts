import { describe, expect, test } from '@jest/globals';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { withAddresses } from './client-modifier.ts';
import { mapUserRules } from './user-rules.ts';

const addressesOf = new Map([
  ['Tablet', ['192.0.2.10', '192.0.2.64/26']],
  ["Mom's", ['192.0.2.11']],
  ['Phone', []],
]);

/** The plan of these rules alone. */
function planOf(...rules: readonly string[]) {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'rules', 'rules');
  mapUserRules({ builder, lists, groups: null, addressesOf }, rules);
  lists.finish();
  return builder.finish('adguard_home');
}

/** The lines of the generated list, without its title. */
const linesOf = (...rules: readonly string[]): string[] =>
  planOf(...rules)
    .lists[0]?.text.trimEnd()
    .split('\n')
    .slice(1) ?? [];

describe('mapUserRules()', () => {
  test.each([
    ['||a.example^', 'managed_domains', 'deny', '*.a.example'],
    ['||a.example^|', 'managed_domains', 'deny', '*.a.example'],
    ['@@||a.example^', 'managed_domains', 'allow', '*.a.example'],
    ['a.example', 'managed_domains', 'deny', 'a.example'],
    ['0.0.0.0 a.example', 'managed_domains', 'deny', 'a.example'],
    ['/^ads[0-9]+\\./', 'regex_filters', 'deny', '^ads[0-9]+\\.'],
  ])('makes a rule that people can edit of %s', (rule, table, action, text) => {
    expect(planOf(rule)).toMatchObject({ rules: [{ table, action, text, enabled: true }], lists: [] });
  });

  test.each([
    '@@/^good/',
    '@@a.example',
    '@@|a.example^',
    '||a.example^$important',
    '||a.example^$dnstype=A,important',
    '||a.example^$badfilter',
    '@@||a.example^$dnstype=AAAA',
  ])('keeps all rules in one list beside %s', (rule) => {
    expect(linesOf('||x.example^', rule, 'y.example')).toEqual(['||x.example^', rule, 'y.example']);
  });

  test('lets rules that only lists know stand beside managed domains', () => {
    const plan = planOf('||x.example^', '||a.example^$dnstype=AAAA', '*.b.example', '||c*.example^');
    expect(plan.rules).toHaveLength(1);
    expect(plan.lists[0]!.text).toContain('||a.example^$dnstype=AAAA\n*.b.example\n||c*.example^\n');
  });

  test.each([
    '/(?=x)/',
    '/a\\/b/',
    '||a.example^$ctag=device_tv',
    '||a.example^$client=Phone',
    'a b c',
    '||',
    '@@',
  ])('has no equivalent for %s', (rule) => {
    expect(planOf(rule)).toMatchObject({ items: [{ result: 'not_mapped' }], rules: [], lists: [] });
  });

  test('reads no comment and no empty line as a rule', () => {
    expect(planOf('', '  ', '! a', '# b', '##.ad').items).toEqual([]);
  });
});

describe('withAddresses()', () => {
  test.each([
    ['||a^$client=Tablet', '||a^$client=192.0.2.10|192.0.2.64/26'],
    ['||a^$client=~Tablet', '||a^$client=~192.0.2.10|~192.0.2.64/26'],
    ['||a^$dnstype=A,client="Mom\\\'s"|192.0.2.1', '||a^$dnstype=A,client=192.0.2.11|192.0.2.1'],
    ['||a^$client=Unknown', '||a^$client=Unknown'],
    ['||a^$client=Phone', null],
    ['||a^$important', '||a^$important'],
  ])('writes %s as %s', (rule, written) => {
    expect(withAddresses(rule, addressesOf)).toBe(written);
  });

  test('leaves separate clients out of a network around them', () => {
    const places = new Map([
      ['Guests', ['192.0.2.0/24']],
      ['Mom', ['192.0.2.7']],
      ['Office', ['198.51.100.0/24']],
      ['Phone', ['02:00:5e:10:00:01']],
    ]);
    const written = ['Guests', 'Guests|Mom', '~Guests', 'Mom'].map((name) =>
      withAddresses(`||a^$client=${name}`, places),
    );
    expect(written).toEqual([
      '||a^$client=192.0.2.0/24|~192.0.2.7|~02:00:5e:10:00:01',
      '||a^$client=192.0.2.0/24|192.0.2.7|~02:00:5e:10:00:01',
      '||a^$client=~192.0.2.0/24',
      '||a^$client=192.0.2.7',
    ]);
  });
});
