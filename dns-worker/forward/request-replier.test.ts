import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { COOKIE_SIZE } from '../../shared/dns/wire.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { a } from '../../test/support/dns/built-messages.ts';
import { query as queryMessage, Reply } from '../../test/support/dns/dns-message.ts';
import { textAnswer } from '../../test/support/dns/record-text.ts';
import { Forwarding } from '../../test/support/parts/forwarding.ts';
import type { Query } from '../query/query.ts';
import { Nat64Discovery } from './nat64-discovery.ts';
import { RequestReplier } from './request-replier.ts';
import { asRefresh, type ClientRequest, type StepRequest } from './waiting-request.ts';

const NAME = 'www.example.org';
const ANSWER = { ...textAnswer(`${NAME} 60 A 192.0.2.7`), answersLength: 31 };

let forwarding: Forwarding;
let replier: RequestReplier;
let replies: Reply[];
beforeEach(() => {
  forwarding = new Forwarding();
  const { pipeline, cache, reporter, clock } = forwarding;
  replier = new RequestReplier({ pipeline, cache, reporter, clock }, new Nat64Discovery(clock));
  replies = [];
});
afterEach(() => forwarding[Symbol.dispose]());

function requestOf(rest: Partial<ClientRequest> = {}): ClientRequest {
  return {
    kind: 'client',
    isOwn: false,
    message: queryMessage(NAME, 'A', { id: 7 }),
    client: addressFromText('192.0.2.1')!,
    clientKey: '',
    protocol: Protocol.tcp,
    arrivedMs: 5,
    arrivedMonotonicMs: 6,
    udpSize: 0,
    dnssecOk: false,
    ecs: null,
    cookie: null,
    hasValidCookie: false,
    streamOptions: 0,
    isRateLimited: false,
    firstTry: null,
    passedVersion: NOT_PASSED,
    send: (reply) => replies.push(new Reply(reply.slice(), '')),
    ...rest,
  };
}

/** Puts an answer into the cache. */
function keepAnswer(): void {
  forwarding.ask(NAME);
  forwarding.answer({ answers: [a(NAME, '192.0.2.7', 60)] });
  forwarding.reporter.logged.length = 0;
}

function statuses(): string[] {
  return forwarding.reporter.logged.map(({ status }) => status);
}

describe('RequestReplier.open() for a client request', () => {
  test('loads the data of the request, and reuses the parsed query', () => {
    const ecs = Uint8Array.of(0, 1, 24, 0, 192, 0, 2);
    const cookie = new Uint8Array(COOKIE_SIZE).fill(3);
    replier.open(
      requestOf({ udpSize: 1232, dnssecOk: true, isRateLimited: true, hasValidCookie: true, ecs, cookie }),
    );
    const { query } = replier;
    expect(nameToText(query.qname.slice(0, query.qnameLength))).toBe(NAME);
    expect(query).toMatchObject({
      hasEdns: true,
      udpSize: 1232,
      dnssecOk: true,
      limitedBy: LimitReason.QUESTIONS,
      hasValidCookie: true,
      arrivedMs: 5,
      arrivedMonotonicMs: forwarding.clock.monotonicMs(),
    });
    expect([query.copyEcs(), query.copyCookie()]).toEqual([ecs, cookie]);
  });

  test('clears all data of the previous request', () => {
    replier.open(requestOf({ udpSize: 1232, dnssecOk: true, cookie: new Uint8Array(COOKIE_SIZE) }));
    replier.open(requestOf());
    expect(replier.query).toMatchObject({ hasEdns: false, udpSize: 512, dnssecOk: false, cookieLength: 0 });
  });

  test('rejects a request whose query was never parsed', () => {
    expect(() => replier.open(requestOf({ message: new Uint8Array(12) }))).toThrow(
      'it was valid when it arrived',
    );
  });
});

describe('RequestReplier.reply(), which sends an upstream answer,', () => {
  test('sends the answer after the question section, and logs the query', () => {
    const request = requestOf();
    replier.open(request);
    replier.answerFrom(ANSWER);
    replier.reply(request);
    expect(replies.map(({ id, data }) => [id, data])).toEqual([[7, ['192.0.2.7']]]);
    expect(statuses()).toEqual(['ALLOWED']);
  });

  test('passes the answer of an alias target on to the alias, and neither sends nor logs that answer', () => {
    const steps: Query[] = [];
    const request: StepRequest = {
      ...requestOf(),
      kind: 'step',
      chain: { hops: 1, cost: 0, grantEndsAtSecs: 0 },
      isNamedByUpstream: false,
      take: (query) => void steps.push(query),
    };
    replier.open(request);
    replier.answerFrom(ANSWER);
    replier.reply(request);
    expect([steps, replies, statuses()]).toEqual([[replier.query], [], []]);
  });
});

describe('RequestReplier.answerFromCache(), which answers a waiting request,', () => {
  test('replies with a fresh answer from the cache', () => {
    const request = requestOf();
    replier.open(request);
    expect(replier.answerFromCache(request, true)).toBe(false);
    expect(replies).toEqual([]);
    keepAnswer();
    replier.open(request);
    expect(replier.answerFromCache(request, false)).toBe(true);
    expect([replies[0]!.data, statuses()]).toEqual([['192.0.2.7'], ['CACHED']]);
  });

  test('replies with a stale answer only if stale answers are allowed', () => {
    keepAnswer();
    forwarding.clock.advance(61_000);
    const request = requestOf();
    replier.open(request);
    expect(replier.answerFromCache(request, false)).toBe(false);
    expect(replier.answerFromCache(request, true)).toBe(true);
    expect([replies[0]!.answers[0]!.ttl, statuses()]).toEqual([30, ['STALE']]);
  });

  test('applies the current policy to the names in the answer', () => {
    keepAnswer();
    forwarding.use([
      { text: '192.0.2.7', reading: { kind: 'block', subdomains: false } },
      { text: '||192.0.2.7^', reading: { kind: 'block', subdomains: false } },
    ]);
    const request = requestOf();
    replier.open(request);
    replier.answerFromCache(request, false);
    expect(replies[0]!.data).toEqual(['0.0.0.0']);
  });
});

describe('RequestReplier.fail() for a client request', () => {
  test('sends one SERVFAIL, and none if a reply was already sent', () => {
    const request = requestOf();
    replier.fail(request);
    replier.fail(request);
    expect(replies.map(({ rcode }) => rcode)).toEqual([2]);
    expect(statuses()).toEqual(['SERVFAIL']);
    replier.fail(asRefresh(requestOf()));
    expect(replies).toHaveLength(1);
    replier.fail(requestOf());
    expect(replies).toHaveLength(2);
  });
});
