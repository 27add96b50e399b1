import { describe, expect, test } from '@jest/globals';
import { nameFromText, nameToText } from '../../shared/dns/name.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { a, cname } from '../../test/support/dns/built-messages.ts';
import { answerSection } from '../../test/support/parts/questions-in-words.ts';
import { openLists, type OtherRows } from '../../test/support/parts/test-lists.ts';
import { explainDecision } from './deciding-rule.ts';
import { SimulatedSide, type SimulatedQuestion } from './simulated-side.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const NAME = 'shop.example';
const ALIAS = answerSection(NAME, [cname(NAME, 'x.tracker.example'), a('x.tracker.example', '203.0.113.1')]);

function sideOf(text: string, rows: OtherRows = {}): SimulatedSide {
  return new SimulatedSide(openLists([{ text, reading: BLOCK }], rows));
}

function asked(answer: Uint8Array | null): SimulatedQuestion {
  return {
    qname: nameFromText(NAME)!,
    qtype: 1,
    clients: addressFromText('192.0.2.1')!,
    clientAt: 0,
    answer,
  };
}

describe('SimulatedSide.decide() for a query', () => {
  test.each([
    ['\n', null, 'ALLOWED', false],
    ['shop.example\n', null, 'BLOCKED_LIST', true],
    ['||tracker.example^\n', null, 'ALLOWED', false],
    ['||tracker.example^\n', ALIAS, 'BLOCKED_CNAME', false],
    ['203.0.113.1\n||203.0.113.1^\n', ALIAS, 'BLOCKED_LIST', false],
    ['||tracker.example^\n@@||shop.example^\n', ALIAS, 'ALLOWED', false],
  ])('of %j and an answer is the same as in the packet pipeline', (text, answer, status, byName) => {
    const side = sideOf(text);
    for (let again = 0; again < 2; again++) {
      expect(QUERY_STATUS_NAMES[side.decide(asked(answer))]).toBe(status);
      expect(side.wasByName).toBe(byName);
    }
  });
});

describe('explainDecision() in a simulation', () => {
  test('names the rule that blocks, and the name that the rule matches', () => {
    const { rule } = explainDecision(sideOf('||tracker.example^\n'), asked(ALIAS));
    expect(rule).toMatchObject({ origin: RuleOrigin.LIST });
    expect(nameToText(rule!.name)).toBe('tracker.example');
  });

  test('names the rule that allows the name: a manual rule before a list rule', () => {
    const managedDomains = [
      { id: 1, name: 'm', domain: NAME, suffix: false, action: 'allow' as const, groupId: null },
    ];
    const text = '@@||shop.example^\n';
    expect(explainDecision(sideOf(text), asked(null)).rule).toMatchObject({ origin: RuleOrigin.LIST });
    const both = explainDecision(sideOf(text, { managedDomains }), asked(null));
    expect(both.rule).toMatchObject({ origin: RuleOrigin.MANAGED });
    expect(explainDecision(sideOf('\n'), asked(null)).rule).toBeNull();
  });
});
