import { describe, expect, jest, test } from '@jest/globals';
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { FlagsHigh } from '../../shared/dns/wire.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { DnssecStatus, QueryStatus } from '../../shared/query-log.ts';
import { type TestRecord, a, cname, octets, u16, wireName } from '../../test/support/dns/built-messages.ts';
import { type ListText, openLists } from '../../test/support/parts/test-lists.ts';
import { putAnswer, replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { PolicyMatcher } from '../policy/policy-matcher.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { matchedName, type Query, StageResult } from '../query/query.ts';
import { AnswerNames, needsCheck } from './answer-names.ts';

const NAME = 'www.example.org';
const list = (text: string): ListText => ({ text, reading: { kind: 'block', subdomains: false } });
const BLOCKING_NAME = openLists([list('||tracker.example^\n')]);
const ADDRESSES = openLists([list('192.0.2.66\n2001:db8::66\n198.51.100.0/24\n')]);

/** A query whose answer contains targets. */
function answered(snapshot: OpenSnapshot, answers: TestRecord[], facts: Partial<Query> = {}): Query {
  const slot = slotQuery(snapshot, NAME, 'A', { edns: {} });
  putAnswer(slot, NAME, 'A', answers);
  slot.hasTargets = answers.some(({ type }) => type !== 'A' && type !== 'AAAA');
  return Object.assign(slot, facts);
}

function check(snapshot: OpenSnapshot, answers: TestRecord[], facts: Partial<Query> = {}): Query | null {
  const slot = answered(snapshot, answers, facts);
  return new AnswerNames(new PolicyMatcher()).check(slot, snapshot) === StageResult.ANSWERED ? slot : null;
}

function aaaa(groups: readonly number[]): TestRecord {
  return { owner: NAME, type: 'AAAA', ttl: 300, rdata: octets(...groups.map(u16)) };
}

function https(target: string, ...params: number[][]): TestRecord {
  return { owner: NAME, type: 'HTTPS', ttl: 300, rdata: octets(u16(1), wireName(target), ...params) };
}

const hint = (key: number, ...addresses: number[][]): number[] => [
  ...u16(key),
  ...u16(addresses.flat().length),
  ...addresses.flat(),
];

describe('AnswerNames, which checks the names and addresses in an answer,', () => {
  test('check() blocks an answer that leads to a blocked name, and records the rule', () => {
    const records = [cname(NAME, 'cdn.tracker.example'), a('cdn.tracker.example', '192.0.2.7')];
    const facts = { cached: 1, replyFlags: FlagsHigh.AA, dnssec: DnssecStatus.secure, authorityCount: 1 };
    const slot = check(BLOCKING_NAME, records, facts);
    expect(slot).toMatchObject({ status: QueryStatus.BLOCKED_CNAME, cached: 0, authorityCount: 0 });
    expect(slot).toMatchObject({ replyFlags: 0, dnssec: DnssecStatus.unchecked });
    const name = matchedName(slot!);
    expect(nameToText(name)).toBe('cdn.tracker.example');
    expect(nameToText(name.slice(slot!.ruleNameOffset))).toBe('tracker.example');
    const reply = replyIn(slot!);
    expect([reply.rcode, reply.data, reply.extendedErrors]).toEqual([
      Rcode.NOERROR,
      ['0.0.0.0'],
      [ExtendedError.BLOCKED],
    ]);
  });

  test.each([
    ['a CNAME further on', [cname(NAME, 'a.example'), cname('a.example', 'tracker.example')]],
    ['a DNAME', [{ owner: 'example.org', type: 'DNAME', ttl: 1, rdata: wireName('tracker.example') }]],
    ['the target of an HTTPS record', [https('tracker.example')]],
    ['the target behind an address', [a(NAME, '192.0.2.7'), cname(NAME, 'tracker.example')]],
  ] as [string, TestRecord[]][])('check() detects a blocked name in %s', (_what, records) => {
    expect(check(BLOCKING_NAME, records)).not.toBeNull();
  });

  test.each([
    ['other names', [cname(NAME, 'cdn.example'), a('cdn.example', '192.0.2.7')]],
    ['the record itself (HTTPS with the root as its target)', [https('.')]],
    ['a blocked name as an owner only', [a('tracker.example', '192.0.2.7')]],
  ] as [string, TestRecord[]][])('check() allows an answer that leads to %s', (_what, records) => {
    const slot = answered(BLOCKING_NAME, records);
    const before = slot.bytes.slice();
    expect(new AnswerNames(new PolicyMatcher()).check(slot, BLOCKING_NAME)).toBe(StageResult.CONTINUE);
    expect(slot.bytes).toEqual(before);
    expect(slot.answersCount).toBe(records.length);
  });

  test('check() reads only the answer section, and stops at a truncated record', () => {
    const records = [cname(NAME, 'a.example'), cname('a.example', 'tracker.example')];
    expect(check(BLOCKING_NAME, records, { answersCount: 1 })).toBeNull();
    const cut = answered(BLOCKING_NAME, records);
    cut.answersLength -= wireName('tracker.example').length + 1;
    expect(new AnswerNames(new PolicyMatcher()).check(cut, BLOCKING_NAME)).toBe(StageResult.CONTINUE);
  });

  test.each([
    ['an A record', [a(NAME, '192.0.2.66')], '192.0.2.66'],
    ['an A record behind another', [a(NAME, '192.0.2.7'), a(NAME, '192.0.2.66')], '192.0.2.66'],
    ['an A record in a blocked network', [a(NAME, '198.51.100.9')], '198.51.100.0/24'],
    ['an AAAA record', [aaaa([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x66])], '2001:db8::66'],
    ['an IPv4 hint', [https('.', hint(4, [192, 0, 2, 7], [192, 0, 2, 66]))], '192.0.2.66'],
    [
      'an IPv6 hint after an IPv4 hint',
      [
        https(
          '.',
          hint(4, [192, 0, 2, 7]),
          hint(6, [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 0x66]),
        ),
      ],
      '2001:db8::66',
    ],
  ] as [string, TestRecord[], string][])(
    'check() blocks %s if a rule matches the address',
    (_what, records, rule) => {
      const slot = check(ADDRESSES, records);
      expect(slot?.status).toBe(QueryStatus.BLOCKED_LIST);
      const name = slot!.ruleName.slice(0, slot!.ruleNameLength);
      expect(nameToText(name).replaceAll('\\', '')).toBe(rule);
    },
  );

  test.each([
    ['other addresses', [a(NAME, '192.0.2.7'), aaaa([0x2001, 0xdb8, 0, 0, 0, 0, 0, 7])]],
    [
      'an address of the wrong length',
      [{ ...a(NAME, '192.0.2.66'), rdata: Uint8Array.of(192, 0, 2, 66, 0) }],
    ],
    ['the same bytes in another type', [{ ...a(NAME, '192.0.2.66'), type: 'TXT' }]],
    ['other hints', [https('.', hint(4, [192, 0, 2, 7]))]],
  ] as [string, TestRecord[]][])('check() allows an answer with %s', (_what, records) => {
    expect(check(ADDRESSES, records)).toBeNull();
  });

  test.each([
    ['a rule of a user allows the qname', { isAllowed: true }, true],
    ['a list allows the qname, for rules of lists', { isAllowed: true, isAllowedByList: true }, true],
    ['nothing allows it', {}, false],
  ])('check() returns the right result if %s', (_what, facts, passes) => {
    expect(check(BLOCKING_NAME, [cname(NAME, 'tracker.example')], facts) === null).toBe(passes);
  });

  test('check() blocks names denied by users even if a list allows the query name', () => {
    const row = {
      id: 1,
      name: 'm',
      domain: 'tracker.example',
      suffix: true,
      action: 'deny',
      groupId: null,
    } as const;
    const snapshot = openLists([], { managedDomains: [row] });
    const facts = { isAllowed: true, isAllowedByList: true };
    expect(check(snapshot, [cname(NAME, 'tracker.example')], facts)).not.toBeNull();
  });

  /**
   * Checks answers in sequence with one matcher; returns for each answer the number of matched names, and whether it
   * was blocked.
   */
  function sequence(snapshot: OpenSnapshot, steps: [string, Partial<Query>][]): [number, boolean][] {
    const matcher = new PolicyMatcher();
    const names = new AnswerNames(matcher);
    const matches = jest.spyOn(matcher, 'match');
    return steps.map(([target, facts]) => {
      matches.mockClear();
      const result = names.check(answered(snapshot, [cname(NAME, target)], facts), snapshot);
      return [matches.mock.calls.length, result === StageResult.ANSWERED];
    });
  }

  test('check() checks an allowed answer from the cache only once', () => {
    const steps: [string, Partial<Query>][] = [
      ['a.example', { cacheReference: 7 }],
      ['a.example', { cacheReference: 7 }],
      ['tracker.example', { cacheReference: 8 }],
      ['tracker.example', { cacheReference: 8 }],
      ['a.example', { cacheReference: 7, isAllowed: true, isAllowedByList: true }],
      ['a.example', { cacheReference: 7, qtype: RRType.AAAA }],
    ];
    expect(sequence(BLOCKING_NAME, steps)).toEqual([
      [1, false],
      [0, false],
      [1, true],
      [1, true],
      [1, false],
      [1, false],
    ]);
  });

  test('check() does not store the result for an answer that is not from the cache', () => {
    const steps: [string, Partial<Query>][] = [
      ['a.example', { cacheReference: 0 }],
      ['tracker.example', { cacheReference: 0 }],
    ];
    expect(sequence(BLOCKING_NAME, steps)).toEqual([
      [1, false],
      [1, true],
    ]);
  });

  test('check() does not store the result for answers that are allowed only for some clients', () => {
    const snapshot = openLists([list('||tracker.example^$client=192.0.2.1\n')]);
    const other = {
      cacheReference: 7,
      clientBytes: Uint8Array.from([...Array<number>(10).fill(0), 255, 255, 192, 0, 2, 9]),
    };
    const steps: [string, Partial<Query>][] = [
      ['tracker.example', other],
      ['tracker.example', { cacheReference: 7 }],
    ];
    expect(sequence(snapshot, steps)).toEqual([
      [1, false],
      [1, true],
    ]);
  });
});

describe('needsCheck, whether an answer must be checked by policy,', () => {
  test.each([
    ['leads to names', BLOCKING_NAME, { hasTargets: true, answersCount: 1 }, true],
    ['leads to no names', BLOCKING_NAME, { answersCount: 1 }, false],
    ['has records, while rules are at addresses', ADDRESSES, { answersCount: 1 }, true],
    ['has no records, while rules are at addresses', ADDRESSES, { answersCount: 0 }, false],
    [
      'leads to names, while nothing may block',
      BLOCKING_NAME,
      { hasTargets: true, isUnfiltered: true },
      false,
    ],
  ] as const)('is right for an answer that %s', (_what, snapshot, facts, judged) => {
    expect(needsCheck(Object.assign(slotQuery(snapshot, NAME), facts), snapshot)).toBe(judged);
  });
});
