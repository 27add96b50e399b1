import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { Protocol, QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { RuleKind } from '../../shared/snapshot/rule-table.ts';
import { query as queryMessage } from '../../test/support/dns/dns-message.ts';
import { openLists, queryFor } from '../../test/support/parts/test-lists.ts';
import { blockedBy } from '../policy/rule-match-memo.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { parseQuery } from '../query/parse-query.ts';
import { Query, StageResult } from '../query/query.ts';
import { answerByPolicy } from './policy-answer.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;

function open(text: string): OpenSnapshot {
  return openLists([{ text, reading: BLOCK }]);
}

/** Opens a snapshot with one regex filter. */
function openFilter(pattern: string): OpenSnapshot {
  const filter = { id: 1, name: 'f', pattern, action: 'deny' as const, groupId: null };
  return openLists([], { regexFilters: [filter] });
}

function request(name: string, qtype: number, { rules }: OpenSnapshot): Query {
  const message = queryMessage(name, qtype);
  const bytes = new Uint8Array(2048);
  bytes.set(message);
  const query = new Query();
  query.begin(bytes, 0, message.length, bytes.length);
  query.protocol = Protocol.tcp;
  parseQuery(query, rules.seedLow, rules.seedHigh);
  return query;
}

/** Answers according to rule `rule` of an origin, which matches from label `label` on. */
function answer(
  snapshot: OpenSnapshot,
  {
    name = 'x.ads.example',
    qtype = RRType.A as number,
    origin = RuleOrigin.LIST as number,
    rule = 0,
    label = 0,
  },
  matched?: Query,
) {
  const query = request(name, qtype, snapshot);
  const match = blockedBy(origin as never, rule, label);
  const result = answerByPolicy(query, matched ?? query, snapshot, 0, match);
  const reply = decodeMessage(query.bytes.slice(0, query.replyLength));
  const records = (reply?.answers ?? []) as unknown as { type: string; data: unknown }[];
  return {
    query,
    result,
    status: QUERY_STATUS_NAMES[query.status],
    answers: query.replyLength === 0 ? [] : records.map(({ type, data }) => [type, data]),
  };
}

describe('answerByPolicy(), the answer by the matching rule,', () => {
  test('records the rule, the position of the matched name and the kind of rule', () => {
    const snapshot = open('||ads.example^');
    const { query, result, status, answers } = answer(snapshot, { label: 1 });
    expect([result, status, answers]).toEqual([StageResult.ANSWERED, 'BLOCKED_LIST', [['A', '0.0.0.0']]]);
    expect(query).toMatchObject({
      ruleOrigin: RuleOrigin.LIST,
      ruleAttribute: 1,
      ruleNameOffset: 2,
      ruleKind: RuleKind.BLOCK_SUFFIX,
      extendedError: ExtendedError.BLOCKED,
    });
  });

  test.each([
    ['SERVICE', 'BLOCKED_SERVICE'],
    ['MANAGED', 'BLOCKED_MANAGED'],
    ['REGEX', 'BLOCKED_REGEX'],
  ] as const)('gives a query blocked by a rule of origin %s the status %s', (origin, status) => {
    const snapshot = openFilter('^x');
    expect(answer(snapshot, { origin: RuleOrigin[origin] }).status).toBe(status);
  });

  test('answers a blocked service with NXDOMAIN and EDE 17 in every blocking mode', () => {
    const { query } = answer(open(''), { origin: RuleOrigin.SERVICE });
    expect([query.rcode, query.extendedError]).toEqual([Rcode.NXDOMAIN, ExtendedError.FILTERED]);
  });

  test('sets status BLOCKED_CNAME if the rule matched a name in the answer', () => {
    const snapshot = open('||ads.example^');
    const { query, status } = answer(
      snapshot,
      { name: 'www.test', label: 1 },
      queryFor('x.ads.example', snapshot),
    );
    expect([status, query.ruleNameOffset]).toEqual(['BLOCKED_CNAME', 2]);
  });

  test.each([
    ['192.0.2.7', RRType.A, [['A', '192.0.2.7']], Rcode.NOERROR],
    ['192.0.2.7', RRType.AAAA, [], Rcode.NOERROR],
    ['REFUSED;;', RRType.A, [], Rcode.REFUSED],
    ['NXDOMAIN;;', RRType.A, [], Rcode.NXDOMAIN],
  ])('returns the answer of $dnsrewrite=%s for type %d', (rewrite, qtype, answers, rcode) => {
    const snapshot = open(`||ads.example^$dnsrewrite=${rewrite}`);
    const found = answer(snapshot, { qtype, origin: RuleOrigin.SPECIAL, label: 1 });
    expect([found.answers, found.query.rcode]).toEqual([answers, rcode]);
    expect(found.query.extendedError).toBe(ExtendedError.FORGED_ANSWER);
  });

  test.each([
    ['192.0.2.7', RRType.A, [['A', '192.0.2.7']], Rcode.NOERROR],
    ['2001:db8::7', RRType.AAAA, [['AAAA', '2001:db8::7']], Rcode.NOERROR],
    ['192.0.2.7', RRType.AAAA, [], Rcode.NOERROR],
    ['NODATA', RRType.A, [], Rcode.NOERROR],
    ['NXDOMAIN', RRType.A, [], Rcode.NXDOMAIN],
    ['REFUSED', RRType.A, [], Rcode.REFUSED],
  ])('returns the answer of a regex filter with ;reply=%s for type %d', (reply, qtype, answers, rcode) => {
    const found = answer(openFilter(`^x;reply=${reply}`), { qtype, origin: RuleOrigin.REGEX });
    expect([found.status, found.answers, found.query.rcode]).toEqual(['BLOCKED_REGEX', answers, rcode]);
  });

  test('creates an alias if the rule rewrites to a host name', () => {
    const snapshot = open('||ads.example^$dnsrewrite=safe.example');
    const alias = answer(snapshot, { origin: RuleOrigin.SPECIAL, label: 1 });
    expect(alias.result).toBe(StageResult.UNRESOLVED);
    expect(nameToText(alias.query.alias.slice(0, alias.query.aliasLength))).toBe('safe.example');
    const own = answer(snapshot, { qtype: RRType.CNAME, origin: RuleOrigin.SPECIAL, label: 1 });
    expect([own.result, own.answers]).toEqual([StageResult.ANSWERED, [['CNAME', 'safe.example']]]);
  });

  test('allows a name that the rule rewrites to itself', () => {
    const snapshot = open('||ads.example^$dnsrewrite=ads.example');
    const { query, result } = answer(snapshot, { name: 'ads.example', origin: RuleOrigin.SPECIAL });
    expect([result, query.ruleAttribute, query.isAllowed, query.isAllowedByList]).toEqual([
      StageResult.CONTINUE,
      0,
      true,
      true,
    ]);
  });

  test('blocks, and creates no alias, if the rule matched a name in the answer', () => {
    const snapshot = open('||ads.example^$dnsrewrite=safe.example');
    const matched = queryFor('x.ads.example', snapshot);
    const { result, answers } = answer(
      snapshot,
      { name: 'www.test', origin: RuleOrigin.SPECIAL, label: 1 },
      matched,
    );
    expect([result, answers]).toEqual([StageResult.ANSWERED, [['A', '0.0.0.0']]]);
  });
});
