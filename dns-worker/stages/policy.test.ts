import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { type OtherRows, openLists } from '../../test/support/parts/test-lists.ts';
import { PolicyMatcher } from '../policy/policy-matcher.ts';
import { type Query, StageResult } from '../query/query.ts';
import { noteAllowance, policyStage } from './policy.ts';

const managed = (action: 'allow' | 'deny'): OtherRows => ({
  managedDomains: [{ id: 1, name: 'm', domain: 'ads.example', suffix: true, action, groupId: null }],
});

function decided(text: string, rows: OtherRows = {}, facts: Partial<Query> = {}): [number, Query] {
  const snapshot = openLists([{ text, reading: { kind: 'block', subdomains: false } }], rows);
  const slot = Object.assign(slotQuery(snapshot, 'www.ads.example', 'A', { edns: {} }), facts);
  return [policyStage(slot, snapshot, new PolicyMatcher()), slot];
}

describe('policyStage, the answer by rules,', () => {
  test.each([
    ['a list', '||ads.example^\n', {}, QueryStatus.BLOCKED_LIST, RuleOrigin.LIST],
    ['an expression of a list', '/^www[.]ads/\n', {}, QueryStatus.BLOCKED_LIST, RuleOrigin.SPECIAL],
    ['a person', '\n', managed('deny'), QueryStatus.BLOCKED_MANAGED, RuleOrigin.MANAGED],
    [
      'a regex filter',
      '\n',
      { regexFilters: [{ id: 1, name: 'r', pattern: 'ads', action: 'deny', groupId: null }] },
      QueryStatus.BLOCKED_REGEX,
      RuleOrigin.REGEX,
    ],
  ] as const)('answers a query that is blocked by %s', (_what, text, rows, status, ruleOrigin) => {
    const [result, slot] = decided(text, rows);
    expect(result).toBe(StageResult.ANSWERED);
    expect(slot).toMatchObject({ status, ruleOrigin });
    expect(slot.ruleAttribute).toBeGreaterThan(0);
    const reply = replyIn(slot);
    expect([reply.rcode, reply.data, reply.extendedErrors]).toEqual([
      Rcode.NOERROR,
      ['0.0.0.0'],
      [ExtendedError.BLOCKED],
    ]);
  });

  test('answers NXDOMAIN for a blocked service in every blocking mode', () => {
    const service = { serviceId: 's', serviceName: 'S', groupId: 1, domains: ['ads.example'], exact: [] };
    const [result, slot] = decided('\n', { blockedServices: [service] });
    expect([result, slot.status]).toEqual([StageResult.ANSWERED, QueryStatus.BLOCKED_SERVICE]);
    expect([replyIn(slot).rcode, replyIn(slot).extendedErrors]).toEqual([
      Rcode.NXDOMAIN,
      [ExtendedError.FILTERED],
    ]);
  });

  test.each([
    ['no rule is for', 'other.example\n', {}, {}, [false, false]],
    ['a person allows', '||ads.example^\n', managed('allow'), {}, [true, false]],
    ['a list allows', '||ads.example^\n@@||www.ads.example^\n', {}, {}, [true, true]],
    ['nothing may block', '||ads.example^\n', managed('deny'), { isUnfiltered: true }, [false, false]],
  ] as const)(
    'allows a name that %s, and records the rule that allowed it',
    (_what, text, rows, facts, [isAllowed, isAllowedByList]) => {
      const [result, slot] = decided(text, rows, facts);
      expect(result).toBe(StageResult.CONTINUE);
      expect(slot).toMatchObject({ isAllowed, isAllowedByList, status: 0, replyLength: 0 });
    },
  );

  test('answers with the alias of a rewriting rule, whose target is then resolved', () => {
    const [result, slot] = decided('||ads.example^$dnsrewrite=safe.example\n');
    expect(result).toBe(StageResult.UNRESOLVED);
    expect(nameToText(slot.alias.subarray(0, slot.aliasLength))).toBe('safe.example');
  });
});

describe('noteAllowance(), which records an allow rule,', () => {
  test('allows the answer for a name that a rule rewrites to itself, as policyStage() does', () => {
    const text = '||ads.example^$dnsrewrite=www.ads.example\n';
    const [result, slot] = decided(text);
    expect([result, slot.isAllowed, slot.isAllowedByList]).toEqual([StageResult.CONTINUE, true, true]);
    const snapshot = openLists([{ text, reading: { kind: 'block', subdomains: false } }]);
    slot.isAllowed = false;
    noteAllowance(slot, snapshot, new PolicyMatcher());
    expect([slot.isAllowed, slot.isAllowedByList]).toEqual([true, true]);
  });
});
