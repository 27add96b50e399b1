/** Answers that end at an alias whose target the upstream has left out: the target is resolved like any name. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { readResponse } from '../resolve/response/response-reader.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { Reply } from '../../test/support/dns/dns-message.ts';
import { a, cname, response, soa, type TestResponse } from '../../test/support/dns/built-messages.ts';
import { type AskedQuery, Forwarding, replyOf } from '../../test/support/parts/forwarding.ts';

const NAME = 'www.example.org';
const TARGET = 'host.example.net';
const ADDRESS = '198.51.100.1';
const WHOLE = { rcode: 'NOERROR', answers: [['CNAME', TARGET], ['A', ADDRESS]] }; // prettier-ignore
const TIMED_OUT = { kind: 'failed', reason: 'timeout', rcode: Rcode.SERVFAIL, upstream: 0 } as const;

let forwarding: Forwarding;
beforeEach(() => {
  forwarding = new Forwarding();
  forwarding.use([]);
});
afterEach(() => forwarding[Symbol.dispose]());

/** Names of questions that are not answered yet. */
const held = (): string[] => forwarding.held.map(({ question }) => nameToText(question.qname));
const leaveOut = (from = NAME, to = TARGET, ttl = 300): void =>
  forwarding.answer({ answers: [cname(from, to, ttl)] });
const complete = (ttl = 300): void => forwarding.answer({ answers: [a(TARGET, ADDRESS, ttl)] });
const extendedErrors = ({ reply }: AskedQuery): number[] => new Reply(reply!, '').extendedErrors;

function answerWith(
  sections: TestResponse,
  dnssec: (typeof DnssecStatus)[keyof typeof DnssecStatus],
  cost = 0,
): void {
  const { question } = forwarding.held[0]!;
  const reading = readResponse(response(question, sections), question);
  if (reading.kind === 'answer')
    forwarding.settle({ kind: 'answer', answer: reading.answer, upstream: 0, dnssec, cost });
}

describe('AliasFollower, which completes an answer with an alias but without its target,', () => {
  test('queries the target, caches alias and target with the smaller TTL, and caches the target alone with its own TTL', () => {
    const asked = forwarding.ask(NAME);
    leaveOut();
    expect([asked.reply, held()]).toEqual([null, [TARGET]]);
    complete(60);
    expect(replyOf(asked)).toEqual(WHOLE);
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'ALLOWED' });
    forwarding.clock.advance(59_000);
    expect(replyOf(forwarding.ask(NAME))).toEqual(WHOLE);
    expect(replyOf(forwarding.ask(TARGET))).toEqual({ rcode: 'NOERROR', answers: [['A', ADDRESS]] });
    expect([asked.replies, held()]).toEqual([1, []]);
    forwarding.clock.advance(1000);
    forwarding.ask(NAME);
    expect(held()).toEqual([NAME]);
  });

  test('combines the alias with a target from the cache', () => {
    forwarding.ask(TARGET);
    complete();
    const asked = forwarding.ask(NAME);
    leaveOut();
    expect([replyOf(asked), held()]).toEqual([WHOLE, []]);
  });

  test('follows an alias chain that is split over several answers', () => {
    const asked = forwarding.ask(NAME);
    forwarding.answer({ answers: [cname(NAME, 'b.example'), cname('b.example', 'c.example')] });
    expect(held()).toEqual(['c.example']);
    leaveOut('c.example', TARGET);
    complete();
    expect(replyOf(asked)?.answers).toEqual([
      ['CNAME', 'b.example'],
      ['CNAME', 'c.example'],
      ['CNAME', TARGET],
      ['A', ADDRESS],
    ]);
  });

  test.each([
    [
      'NODATA with the SOA of its zone',
      { answers: [cname(NAME, TARGET)], authorities: [soa('example.net', 60, 60)] },
    ],
    ['NXDOMAIN', { answers: [cname(NAME, TARGET)], flags: 0x8183 }],
  ])('does not query the target if the answer is %s', (_what, sections) => {
    const asked = forwarding.ask(NAME);
    forwarding.answer(sections);
    expect(held()).toEqual([]);
    expect(replyOf(asked)?.answers).toEqual([['CNAME', TARGET]]);
  });

  test('returns the alias alone for a query of type CNAME', () => {
    const asked = forwarding.ask(NAME, { qtype: 5 });
    leaveOut();
    expect([replyOf(asked)?.answers, held()]).toEqual([[['CNAME', TARGET]], []]);
  });

  test('returns the RCODE and the negative answer of the target', () => {
    const asked = forwarding.ask(NAME);
    leaveOut();
    forwarding.answer({ flags: 0x8183, authorities: [soa('example.net', 60, 60)] });
    expect(replyOf(asked)).toEqual({ rcode: 'NXDOMAIN', answers: [['CNAME', TARGET]] });
    forwarding.clock.advance(59_000);
    expect(replyOf(forwarding.ask(NAME))).toMatchObject({ rcode: 'NXDOMAIN' });
    expect(held()).toEqual([]);
  });

  test('returns SERVFAIL with EDE 0 for a loop after the maximum chain length, and does not retry at once', () => {
    const asked = forwarding.ask(NAME, { edns: true });
    let questions = 0;
    for (; asked.reply === null; questions++)
      if (held()[0] === NAME) leaveOut(NAME, TARGET);
      else leaveOut(TARGET, NAME);
    expect(questions).toBe(17);
    expect(replyOf(asked)).toEqual({ rcode: 'SERVFAIL', answers: [] });
    expect(extendedErrors(asked)).toEqual([0]);
    expect(replyOf(forwarding.ask(NAME))).toMatchObject({ rcode: 'SERVFAIL' });
    expect(held()).toEqual([]);
    forwarding.clock.advance(5000);
    forwarding.ask(NAME);
    expect(held()).toEqual([NAME]);
  });

  test('stops at the time limit of a query, however slow each part is (CVE-2024-33655 DNSBomb)', () => {
    const asked = forwarding.ask(NAME, { edns: true });
    const others = Array.from({ length: 10 }, () => forwarding.ask(NAME));
    for (let hop = 0; hop < 3; hop++) {
      expect([asked.reply, held()]).toEqual([null, [hop === 0 ? NAME : `n${String(hop)}.example`]]);
      forwarding.clock.advance(1700);
      leaveOut(hop === 0 ? NAME : `n${String(hop)}.example`, `n${String(hop + 1)}.example`);
    }
    expect(held()).toEqual([]);
    for (const each of [asked, ...others]) {
      expect(replyOf(each)).toEqual({ rcode: 'SERVFAIL', answers: [] });
      expect(each.replies).toBe(1);
    }
    expect(extendedErrors(asked)).toEqual([22]);
    expect(forwarding.reporter.logged[0]).toMatchObject({ name: NAME, status: 'TIMEOUT' });
    // The failure is cached for some time, so the chain is not immediately followed again.
    forwarding.ask(NAME);
    expect(held()).toEqual([]);
  });

  test('stops when its queries have cost more than two queries may (CVE-2026-50045)', () => {
    const names = [NAME, 'b.example', 'c.example', 'd.example', 'e.example'];
    const walk = (cost: number): string[] => {
      forwarding.ask(NAME, { edns: true });
      const asked: string[] = [];
      while (held().length > 0) {
        asked.push(...held());
        const at = names.indexOf(held()[0]!);
        if (names[at + 1] === undefined) complete();
        else answerWith({ answers: [cname(names[at]!, names[at + 1]!)] }, DnssecStatus.insecure, cost);
      }
      return asked;
    };
    expect(walk(0.7)).toEqual(names.slice(0, 3));
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'SERVFAIL' });
    forwarding.clock.advance(301_000);
    expect(walk(0.4)).toEqual(names);
  });

  test('returns SERVFAIL or a stale answer if the target fails', () => {
    const failed = forwarding.ask(NAME, { edns: true });
    leaveOut();
    forwarding.settle(TIMED_OUT);
    expect(replyOf(failed)).toMatchObject({ rcode: 'SERVFAIL' });
    expect(extendedErrors(failed)).toEqual([22]);
    expect(forwarding.lastLogged).toMatchObject({ status: 'TIMEOUT' });
    forwarding.clock.advance(6000);
    forwarding.ask(NAME);
    leaveOut();
    complete();
    forwarding.clock.advance(301_000);
    const stale = forwarding.ask(NAME);
    leaveOut();
    forwarding.settle(TIMED_OUT);
    expect(replyOf(stale)).toEqual(WHOLE);
    expect(forwarding.lastLogged).toMatchObject({ status: 'STALE' });
  });
});

describe('AliasFollower and policy', () => {
  const BLOCK = { kind: 'block', subdomains: false } as const;
  const NULL_IP = { rcode: 'NOERROR', answers: [['A', '0.0.0.0']] };

  test('applies policy to the target, even if the target comes from the cache', () => {
    forwarding.use([{ text: `${TARGET}\n`, reading: BLOCK }]);
    const asked = forwarding.ask(NAME);
    leaveOut();
    complete();
    expect(replyOf(asked)).toEqual(NULL_IP);
    expect(forwarding.lastLogged).toMatchObject({ name: NAME, status: 'BLOCKED_CNAME' });
    expect(replyOf(forwarding.ask(NAME))).toEqual(NULL_IP);
    forwarding.use([]);
    expect(replyOf(forwarding.ask(NAME))).toEqual(WHOLE);
  });

  test('applies the policy that is active when the target is resolved', () => {
    const asked = forwarding.ask(NAME);
    leaveOut();
    forwarding.use([{ text: `${NAME}\n`, reading: BLOCK }]);
    complete();
    expect(replyOf(asked)).toEqual(NULL_IP);
    expect(forwarding.lastLogged).toMatchObject({ status: 'BLOCKED_LIST' });
  });

  const record = { id: 1, fqdn: TARGET, domain: '', type: 'A', ttlSecs: 60 } as const;

  test('uses local records for the target, and does not cache them', () => {
    forwarding.use([], { localRecords: [{ ...record, value: ADDRESS }] });
    const asked = forwarding.ask(NAME);
    leaveOut();
    expect([replyOf(asked), held()]).toEqual([WHOLE, []]);
    forwarding.use([]);
    forwarding.ask(NAME);
    expect(held()).toEqual([NAME]);
  });

  test('blocks a public name that points to a local name with a private address (DNS rebinding)', () => {
    const names = { ...NO_NAME_RULES, rebinding: { isOn: true, exempt: [] } };
    forwarding.use([], { localRecords: [{ ...record, value: '192.168.1.1' }] }, { names });
    const asked = forwarding.ask(NAME);
    leaveOut();
    expect(replyOf(asked)).toEqual({ rcode: 'NOERROR', answers: [] });
    expect(forwarding.lastLogged).toMatchObject({ status: 'BLOCKED_REBIND' });
  });

  test('does not forward a target that must not leave the network', () => {
    forwarding.use([], {}, { questionFlags: QuestionFlag.SPECIAL_NAMES });
    const asked = forwarding.ask(NAME);
    leaveOut(NAME, 'hidden.onion');
    expect(held()).toEqual([]);
    expect(replyOf(asked)).toMatchObject({ rcode: 'NXDOMAIN' });
  });
});

describe('AliasFollower and DNSSEC', () => {
  const { secure, insecure, unchecked } = DnssecStatus;

  test.each([
    ['both are secure', secure, secure, true],
    ['the alias is insecure', insecure, secure, false],
    ['the target is insecure', secure, insecure, false],
    ['the alias was not checked', unchecked, secure, false],
  ])(
    'sets AD, from upstream and from the cache, only if alias and target are secure: %s',
    (_what, ofAlias, ofTarget, isAuthentic) => {
      const isAd = ({ reply }: AskedQuery): boolean => (reply![3]! & 0x20) !== 0;
      const asked = forwarding.ask(NAME, { wantsAuthentic: true });
      answerWith({ answers: [cname(NAME, TARGET)] }, ofAlias);
      answerWith({ answers: [a(TARGET, ADDRESS)] }, ofTarget);
      expect(replyOf(asked)).toEqual(WHOLE);
      expect([isAd(asked), isAd(forwarding.ask(NAME, { wantsAuthentic: true }))]).toEqual([
        isAuthentic,
        isAuthentic,
      ]);
    },
  );
});
