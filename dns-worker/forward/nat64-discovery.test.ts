import { expect, test } from '@jest/globals';
import { addressFromText } from '../../shared/net/ip.ts';
import { answerWith } from '../../test/support/dns/record-bodies.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import type { FlightOutcome } from '../resolve/node-flights.ts';
import { type AskPools, Nat64Discovery } from './nat64-discovery.ts';

const AAAA = 28;
const answer = (text: string) =>
  answerWith([{ owner: 'x.example', type: 'AAAA', ttl: 60, rdata: addressFromText(text)! }]);
const announced: FlightOutcome = { kind: 'answer', answer: answer('fd00:64::192.0.0.170'), upstream: 0 };
const failed: FlightOutcome = { kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 };
const resolverWith =
  (outcome: FlightOutcome): AskPools =>
  (_question, done) =>
    done(outcome);

test.each([
  ['an answer', announced, 600_000],
  ['a failure', failed, 60_000],
])(
  'mustLearn(), whether to query for the NAT64 prefix, is false for some time after %s',
  (_, outcome, freshMs) => {
    const clock = new TestClock();
    const nat64 = new Nat64Discovery(clock);
    expect(nat64.mustLearn(AAAA, answer('fd00:65::1'))).toBe(true);
    let called = 0;
    nat64.learn(resolverWith(outcome), () => called++);
    expect(called).toBe(1);
    expect(nat64.mustLearn(AAAA, answer('fd00:65::1'))).toBe(false);
    clock.advance(freshMs - 1);
    expect(nat64.mustLearn(AAAA, answer('fd00:65::1'))).toBe(false);
    clock.advance(1);
    expect(nat64.mustLearn(AAAA, answer('fd00:65::1'))).toBe(true);
  },
);

test('mustLearn() is false for answers that need no NAT64 prefix', () => {
  const nat64 = new Nat64Discovery(new TestClock());
  expect(nat64.mustLearn(AAAA, answer('2001:db8::1'))).toBe(false);
  expect(nat64.mustLearn(1, answer('fd00:65::1'))).toBe(false);
});

test('learn() keeps the known NAT64 prefixes if its query fails; clear() removes the prefixes', () => {
  const clock = new TestClock();
  const nat64 = new Nat64Discovery(clock);
  nat64.learn(resolverWith(announced), () => undefined);
  expect(nat64.prefixes).toHaveLength(1);
  nat64.learn(resolverWith(failed), () => undefined);
  expect(nat64.prefixes).toHaveLength(1);
  nat64.clear();
  expect(nat64.prefixes).toHaveLength(0);
  expect(nat64.mustLearn(AAAA, answer('fd00:65::1'))).toBe(true);
});
