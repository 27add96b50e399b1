import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { nameFromText, nameToText } from '../../shared/dns/name.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import type { Explanation } from '../../shared/threads/explanation.ts';
import { a, cname } from '../../test/support/dns/built-messages.ts';
import { Forwarding } from '../../test/support/parts/forwarding.ts';
import { Explainer } from './question-explainer.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const NAME = 'www.example.org';
const UP_TO_POLICY = [
  'admission continue',
  'client_group continue',
  'access continue',
  'question_checks continue',
  'grants continue',
  'schedule_override continue',
  'local_names continue',
  'special_names continue',
  'services continue',
];

let forwarding: Forwarding;
let explanations: Explanation[];
beforeEach(() => {
  forwarding = new Forwarding();
  explanations = [];
});
afterEach(() => forwarding[Symbol.dispose]());

function explain(name: string): void {
  const explainer = new Explainer(forwarding.pipeline, forwarding.forwarder, forwarding.clock);
  const asked = { qname: nameFromText(name)!, qtype: 1, client: addressFromText('192.0.2.1')! };
  explainer.explain(asked, (explanation) => explanations.push(explanation));
}

function stagesOf({ stages }: Explanation): string[] {
  return stages.map(({ stage, result }) => `${stage} ${result}`);
}

describe('Explainer.explain() for a query', () => {
  test('names the stages up to the stage that decides, and the rule that decides', () => {
    forwarding.use([{ text: '||ads.example^\n||a*s.example^\n', reading: BLOCK }]);
    explain('x.ads.example');
    const [explanation] = explanations;
    expect(stagesOf(explanation!)).toEqual([...UP_TO_POLICY, 'policy answered']);
    expect(explanation!.stages[9]!.rules.map(({ origin }) => origin)).toEqual([
      RuleOrigin.LIST,
      RuleOrigin.SPECIAL,
    ]);
    expect(QUERY_STATUS_NAMES[explanation!.status]).toBe('BLOCKED_LIST');
    expect(nameToText(explanation!.decidedBy!.name)).toBe('ads.example');
    expect(decodeMessage(explanation!.answer)?.answers).toMatchObject([{ data: '0.0.0.0' }]);
  });

  test('waits for the upstreams, and applies policy to the names in their answer', () => {
    forwarding.use([{ text: '||tracker.example^', reading: BLOCK }]);
    explain(NAME);
    expect(explanations).toEqual([]);
    forwarding.answer({ answers: [cname(NAME, 'x.tracker.example'), a('x.tracker.example', '192.0.2.1')] });
    const [explanation] = explanations;
    expect(explanation!.servers).toEqual({ zone: null, servers: [], answeredBy: 1 });
    expect(stagesOf(explanation!).slice(-4)).toEqual([
      'cache unresolved',
      'forward continue',
      'dnssec continue',
      'answer_names answered',
    ]);
    expect(QUERY_STATUS_NAMES[explanation!.status]).toBe('BLOCKED_CNAME');
    expect(nameToText(explanation!.decidedBy!.name)).toBe('tracker.example');
  });

  test('starts again if another policy snapshot became active during the explanation', () => {
    explain(NAME);
    forwarding.use([{ text: `||${NAME}^`, reading: BLOCK }]);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1')] });
    expect(explanations).toHaveLength(1);
    expect(explanations[0]!.snapshotVersion).toBe(forwarding.pipeline.snapshot.version);
    expect(stagesOf(explanations[0]!)).toEqual([...UP_TO_POLICY, 'policy answered']);
  });

  test('does not count or log the explained query', () => {
    explain(NAME);
    forwarding.answer({ answers: [a(NAME, '192.0.2.1')] });
    explain(NAME);
    expect(stagesOf(explanations[1]!).slice(-3)).toEqual([
      'cache answered',
      'dnssec continue',
      'rebinding continue',
    ]);
    expect(explanations[1]!.stages.at(-3)?.detail).toMatch(/^ttl \d+$/);
    expect(explanations[1]!.servers?.answeredBy).toBe(1);
    expect(forwarding.reporter.logged).toEqual([]);
    expect(new Float64Array(forwarding.counters).every((count) => count === 0)).toBe(true);
  });

  test("reports the client's group even if the query gets no answer", () => {
    explain(NAME);
    forwarding.settle({ kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 });
    expect(QUERY_STATUS_NAMES[explanations[0]!.status]).toBe('TIMEOUT');
    expect([explanations[0]!.groupId, explanations[0]!.decidedBy]).toEqual([1, null]);
  });
});
