import { describe, expect, jest, test } from '@jest/globals';
import { RRType } from '../../shared/dns/iana.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { type ListText, openLists, queryFor } from '../../test/support/parts/test-lists.ts';
import { PolicyMatcher } from './policy-matcher.ts';
import { ALLOWED_BY_LIST, NOT_BLOCKED, originOf, ruleOf } from './rule-match-memo.ts';

const list = (text: string): ListText => ({ text, reading: { kind: 'block', subdomains: false } });
const DENIED = {
  id: 1,
  name: 'm',
  domain: 'ads.example',
  suffix: true,
  action: 'deny' as const,
  groupId: null,
};
const SERVICE = { serviceId: 'ads', serviceName: 'Ads', groupId: 1, domains: ['ads.example'], exact: [] };

describe('PolicyMatcher, which finds the rule for a name,', () => {
  test('match() returns the match of a remembered name without searching the tables', () => {
    const snapshot = openLists([list('||ads.example^\n')]);
    const matcher = new PolicyMatcher();
    const name = queryFor('www.ads.example', snapshot);
    const find = jest.spyOn(snapshot.rules, 'find');
    const first = matcher.match(name, name, snapshot, 0);
    expect(originOf(first)).toBe(RuleOrigin.LIST);
    const lookups = find.mock.calls.length;
    expect(lookups).toBeGreaterThan(0);
    expect(matcher.match(name, name, snapshot, 0)).toBe(first);
    expect(find).toHaveBeenCalledTimes(lookups);
  });

  test('match() reports all matching rules to a recorder, even for a remembered name', () => {
    const snapshot = openLists([list('||ads.example^\n@@||www.ads.example^\n/^www[.]ads/\n')], {
      managedDomains: [
        { id: 1, name: 'm', domain: 'ads.example', suffix: true, action: 'deny', groupId: null },
      ],
    });
    const matcher = new PolicyMatcher();
    const name = queryFor('www.ads.example', snapshot);
    const match = matcher.match(name, name, snapshot, 0);
    expect(originOf(match)).toBe(RuleOrigin.MANAGED);
    for (let round = 0; round < 2; round++) {
      const origins: number[] = [];
      matcher.recorder = { met: (origin) => origins.push(origin) };
      expect(matcher.match(name, name, snapshot, 0)).toBe(match);
      expect(origins).toEqual([RuleOrigin.MANAGED, RuleOrigin.LIST, RuleOrigin.LIST, RuleOrigin.SPECIAL]);
    }
  });

  test('match() decides separately for each client if a rule applies only to some clients, and reports such a rule', () => {
    const snapshot = openLists([list('||ads.example^$client=192.0.2.1\n')]);
    const matcher = new PolicyMatcher();
    const [inside, outside] = [1, 2].map((last) => {
      const query = queryFor('ads.example', snapshot);
      query.clientBytes = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last);
      return query;
    });
    for (let round = 0; round < 2; round++) {
      expect(matcher.match(inside!, inside!, snapshot, 0)).not.toBe(NOT_BLOCKED);
      expect(matcher.wasConditional).toBe(true);
      expect(matcher.match(outside!, outside!, snapshot, 0)).toBe(NOT_BLOCKED);
      expect(matcher.wasConditional).toBe(true);
    }
    const other = queryFor('other.example', snapshot);
    for (let round = 0; round < 2; round++) {
      matcher.match(other, other, snapshot, 0);
      expect(matcher.wasConditional).toBe(false);
    }
  });

  test.each([
    ['a rule with its own answer', '/ads[.]ex/\n||ads.example^$dnsrewrite=192.0.2.9,dnstype=A\n', 1],
    ['that rule even if it comes first', '||ads.example^$dnsrewrite=192.0.2.9,dnstype=A\n/ads[.]ex/\n', 0],
    ['the first of two plain rules', '/ads[.]ex/\n/^ads/\n', 0],
    [
      'the first of two with answers',
      '||ads.example^$dnsrewrite=192.0.2.9\n||example^$dnsrewrite=192.0.2.8\n',
      0,
    ],
  ])('match() returns, of several blocking rules, %s', (_what, text, rule) => {
    const snapshot = openLists([list(text)]);
    const name = queryFor('ads.example', snapshot);
    const result = new PolicyMatcher().match(name, name, snapshot, 0);
    expect([originOf(result), ruleOf(result)]).toEqual([RuleOrigin.SPECIAL, rule]);
  });

  test.each([
    ['the rule at the name', '/ads[.]ex/\n||ads.example^\n', RuleOrigin.LIST],
    ['a rule with its own answer', '||ads.example^\n/ads[.]ex/$dnsrewrite=192.0.2.9\n', RuleOrigin.SPECIAL],
    ['the important rule at the name', '/ads[.]ex/$important\n||ads.example^$important\n', RuleOrigin.LIST],
  ])('match() returns, of a rule for the name and a regular expression, %s', (_what, text, origin) => {
    const snapshot = openLists([list(text)]);
    const name = queryFor('ads.example', snapshot);
    const result = new PolicyMatcher().match(name, name, snapshot, 0);
    expect([originOf(result), ruleOf(result)]).toEqual([origin, 0]);
  });

  test.each([
    ['a managed domain', { managedDomains: [DENIED] }, 0],
    ['a blocked service', { blockedServices: [SERVICE] }, 0],
    ['nothing set by hand', {}, 1],
  ])('match() evaluates regex filters only if no other manual rule decides: %s', (_, rows, times) => {
    const filter = { id: 1, name: 'f', pattern: '^www', action: 'deny' as const, groupId: null };
    const snapshot = openLists([], { ...rows, regexFilters: [filter] });
    const tried = jest.spyOn(snapshot.manualSpecial, 'forEachMatch');
    const name = queryFor('www.ads.example', snapshot);
    expect(new PolicyMatcher().match(name, name, snapshot, 0)).not.toBe(NOT_BLOCKED);
    expect(tried).toHaveBeenCalledTimes(times);
  });

  test.each([
    '^[0-9]+\\.',
    '\\d+\\.',
    '^(?i:[0-9a-f]+)\\.',
    '^[a-z0-9:.]+$',
    '\\.[0-9]+$',
    '^1\\.2\\.3\\.4$',
  ])('match() compares the regex filter %s with names only, not with addresses', (pattern) => {
    const filter = { id: 1, name: 'f', pattern, action: 'deny' as const, groupId: null };
    const snapshot = openLists([], { regexFilters: [filter] });
    expect(snapshot.checksAddresses).toBe(false);
    const name = queryFor('1.2.3.4', snapshot);
    expect(originOf(new PolicyMatcher().match(name, name, snapshot, 0))).toBe(RuleOrigin.REGEX);
  });

  test('match() applies a regex filter with ;querytype= only to queries of these types', () => {
    const filter = {
      id: 1,
      name: 'f',
      pattern: '^ads;querytype=AAAA',
      action: 'deny' as const,
      groupId: null,
    };
    const snapshot = openLists([], { regexFilters: [filter] });
    const matcher = new PolicyMatcher();
    const name = queryFor('ads.example', snapshot);
    for (const [type, isBlocked] of [
      [RRType.AAAA, true],
      [RRType.A, false],
      [RRType.AAAA, true],
    ] as const) {
      name.qtype = type;
      expect(matcher.match(name, name, snapshot, 0) !== NOT_BLOCKED).toBe(isBlocked);
    }
  });

  test('match() does not report rules of the previous name', () => {
    const snapshot = openLists([list('/^a[.]b/\n@@/^c[.]d/$important\n||e.f^\n')]);
    const matcher = new PolicyMatcher();
    const matchOf = (text: string): number => {
      const name = queryFor(text, snapshot);
      return matcher.match(name, name, snapshot, 0);
    };
    expect(originOf(matchOf('a.b'))).toBe(RuleOrigin.SPECIAL);
    expect(matchOf('x.y')).toBe(NOT_BLOCKED);
    expect(matchOf('c.d')).toBe(ALLOWED_BY_LIST);
    expect(originOf(matchOf('e.f'))).toBe(RuleOrigin.LIST);
  });
});
