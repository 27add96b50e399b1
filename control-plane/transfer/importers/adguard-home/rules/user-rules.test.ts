import { describe, expect, test } from '@jest/globals';
import { GeneratedLists } from '../../plan/generated-lists.ts';
import { PlanBuilder } from '../../plan/plan-builder.ts';
import { withAddresses, withoutTags } from './client-modifier.ts';
import { mapUserRules } from './user-rules.ts';

const addressesOf = new Map([
  ['Tablet', ['192.0.2.10', '192.0.2.64/26']],
  ["Mom's", ['192.0.2.11']],
  ['Phone', []],
]);

const namesOf = new Map([
  ['device_tv', ['Tablet']],
  ['user_child', ['Tablet', "Mom's"]],
]);

/** The plan of these rules alone. */
function planOf(...rules: readonly string[]) {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'rules', 'rules');
  mapUserRules({ builder, lists, groups: null, addressesOf, namesOf }, rules);
  lists.finish();
  return builder.finish('adguard_home');
}

/** The lines of the generated list, without its title. */
const linesOf = (...rules: readonly string[]): string[] =>
  planOf(...rules)
    .document.list_sources[0]?.text?.trimEnd()
    .split('\n')
    .slice(1) ?? [];

describe('mapUserRules()', () => {
  test('keeps all rules as custom rules in their order, without priorities', () => {
    const rules = [
      '||a.example^',
      '@@||good.a.example^',
      'b.example',
      '0.0.0.0 hosts.example',
      '/^ads[0-9]+\\./',
      '@@/^good/',
      '||c.example^$important',
      '||d.example^$dnstype=AAAA',
      '||e.example^$badfilter',
      '||f*.example^',
    ];
    expect(linesOf(...rules)).toEqual(rules);
    expect(planOf(...rules)).toMatchObject({
      document: { managed_domains: [], regex_filters: [], list_sources: [{ url: 'text:rules' }] },
      lists: [],
    });
  });

  test('writes *.x as .x^, because in AdGuard Home it does not match x', () => {
    expect(linesOf('*.b.example', '@@*.c.example')).toEqual(['.b.example^', '@@.c.example^']);
  });

  test('reads a comment after a name, as in lists', () => {
    expect(linesOf('p5.example # why')).toEqual(['p5.example']);
  });

  test('converts a single-label rule to a rule for this name only', () => {
    expect(linesOf('localbox', '@@localbox', 'zip^')).toEqual(['|localbox^', '@@|localbox^', 'zip^']);
  });

  test('lists rules that match nothing in AdGuard Home', () => {
    expect(planOf('Plain.example').items).toMatchObject([
      { name: 'Plain.example', result: null },
      { name: 'Plain.example', result: 'differs', domains: ['plain.example'] },
    ]);
  });

  test('replaces a client tag with the names of the clients that have it', () => {
    expect(
      linesOf(
        '||a.example^$ctag=user_child',
        '||b.example^$ctag=~device_tv',
        '||c.example^$ctag=~device_phone',
      ),
    ).toEqual([
      '||a.example^$client=192.0.2.10|192.0.2.64/26|192.0.2.11',
      '||b.example^$client=~192.0.2.10|~192.0.2.64/26',
      '||c.example^',
    ]);
  });

  test('creates local records from hosts lines unless their address means blocking', () => {
    expect(planOf('192.0.2.5 nas.lan nas').document).toMatchObject({
      local_records: [
        { hostname: 'nas', domain: 'lan' },
        { hostname: 'nas', domain: '' },
      ],
      list_sources: [],
    });
  });

  test.each([
    '/(?=x)/',
    '/a\\/b/',
    '||a.example^$ctag=device_phone',
    '||a.example^$ctag=device_tv,client=Tablet',
    '||a.example^$client=Phone',
    'a b c',
    '||',
    '@@',
  ])('has no equivalent for %s', (rule) => {
    expect(planOf(rule)).toMatchObject({
      items: [{ result: 'not_mapped' }],
      document: { managed_domains: [], regex_filters: [], list_sources: [] },
    });
  });

  test('ignores comments and empty lines', () => {
    expect(planOf('', '  ', '! a', '# b', '##.ad').items).toEqual([]);
  });
});

describe('withoutTags()', () => {
  const tagged = new Map([['device_tv', ['TV, "big" | ~small']]]);

  test.each([
    ['||a^$ctag=device_tv', '||a^$client=TV\\, \\"big\\" \\| \\~small'],
    ['||a^$ctag=~device_pc,dnstype=A', '||a^$dnstype=A'],
    ['||a^$dnstype=A,ctag=~device_pc', '||a^$dnstype=A'],
    ['/a{1,2}/$ctag=~device_pc', '/a{1,2}/'],
    ['||a^$client=~Mom,ctag=~device_pc', '||a^$client=~Mom'],
    ['||a^$important', '||a^$important'],
  ])('writes %s as %s', (rule, written) => {
    expect(withoutTags(rule, tagged)).toEqual({ rule: written });
  });

  test('keeps excluded clients when it replaces a tag', () => {
    expect(withoutTags('||a^$ctag=t,client=~Mom', new Map([['t', ['Kids']]]))).toEqual({
      rule: '||a^$client=Kids|~Mom',
    });
    expect(withoutTags('||a^$client=~Mom,ctag=t', new Map([['t', ['Kids']]]))).toEqual({
      rule: '||a^$client=Kids|~Mom',
    });
  });

  test('reports that no client has a tag', () => {
    expect(withoutTags('||a^$ctag=device_pc', tagged)).toEqual({
      rule: null,
      reason: 'no client has this tag',
    });
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

  test('excludes clients with their own settings from a network that contains them', () => {
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
