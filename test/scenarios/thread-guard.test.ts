/**
 * Bugs in the code of a resolve thread: one question gets SERVFAIL, one error is counted, everything else continues.
 */
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { Upstream } from '../../dns-worker/resolve/upstream.ts';
import { QuestionRun } from '../../dns-worker/resolve/question-run.ts';
import { ThreadGuard } from '../../dns-worker/report/thread-guard.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { a, question } from '../support/dns/built-messages.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { Forwarding, TestNode, replyOf } from '../support/parts/forwarding.ts';
import { TestClock } from '../support/parts/test-clock.ts';
import { until } from '../support/parts/until.ts';

const NAME = 'www.example.org';
const ANSWERED = { rcode: 'NOERROR', answers: [['A', '192.0.2.1']] };
const SERVFAIL = { rcode: 'SERVFAIL', answers: [] };

afterEach(() => {
  jest.useRealTimers();
});

const answer = (by: Forwarding, ttl = 300): void => by.answer({ answers: [a(NAME, '192.0.2.1', ttl)] });
const fail = (): never => {
  throw new Error('a bug');
};
function bugsOf({ counters }: Forwarding): number {
  return new Float64Array(counters)[Counter.INTERNAL_ERRORS]!;
}

describe('an exception thrown by a bug', () => {
  test('while a query is accepted causes SERVFAIL for its client only', () => {
    using forwarding = new Forwarding();
    const bug = jest.spyOn(forwarding.cache, 'answer').mockImplementation(fail);
    expect(replyOf(forwarding.ask(NAME))).toEqual(SERVFAIL);
    bug.mockRestore();
    expect(bugsOf(forwarding)).toBe(1);
    expect(forwarding.lastLogged).toMatchObject({ status: 'SERVFAIL' });
    const asked = forwarding.ask(NAME);
    answer(forwarding);
    expect(replyOf(asked)).toEqual(ANSWERED);
  });

  test('while a query is answered causes SERVFAIL for its client only, and its network keeps its share', () => {
    using forwarding = new Forwarding();
    const asked = [forwarding.ask(NAME), forwarding.ask(NAME), forwarding.ask(NAME)];
    const bug = jest.spyOn(forwarding.pipeline, 'checkAnswer').mockImplementationOnce(fail);
    answer(forwarding, 0);
    bug.mockRestore();
    expect(asked.map(replyOf)).toEqual([SERVFAIL, ANSWERED, ANSWERED]);
    expect(asked.map(({ replies }) => replies)).toEqual([1, 1, 1]);
    expect(bugsOf(forwarding)).toBe(1);
  });

  test('after the reply was sent does not cause a second reply', () => {
    using forwarding = new Forwarding();
    const asked = forwarding.ask(NAME);
    const bug = jest.spyOn(forwarding.reporter, 'publish').mockImplementation(fail);
    answer(forwarding);
    bug.mockRestore();
    expect(asked.replies).toBe(1);
    expect(replyOf(asked)).toEqual(ANSWERED);
    expect(bugsOf(forwarding)).toBe(1);
  });

  test('in the timer of a stale answer causes SERVFAIL, and the late answer is cached', () => {
    jest.useFakeTimers();
    using forwarding = new Forwarding();
    forwarding.ask(NAME);
    answer(forwarding);
    forwarding.clock.advance(400_000);
    const asked = forwarding.ask(NAME);
    const bug = jest.spyOn(forwarding.pipeline, 'passAgain').mockImplementation(fail);
    jest.advanceTimersByTime(2000);
    bug.mockRestore();
    expect(replyOf(asked)).toEqual(SERVFAIL);
    expect(bugsOf(forwarding)).toBe(1);
    answer(forwarding);
    expect(asked.replies).toBe(1);
    expect(replyOf(forwarding.ask(NAME))).toEqual(ANSWERED);
  });

  test('while an alias target is checked causes one SERVFAIL', () => {
    using forwarding = new Forwarding();
    const record = { id: 1, fqdn: NAME, domain: '', type: 'CNAME', value: 't.example', ttlSecs: 60 } as const;
    forwarding.use([], { localRecords: [record] });
    const asked = forwarding.ask(NAME);
    const bug = jest.spyOn(forwarding.pipeline, 'checkAnswer').mockImplementation(fail);
    forwarding.answer({ answers: [a('t.example', '192.0.2.1')] });
    bug.mockRestore();
    expect(replyOf(asked)).toEqual(SERVFAIL);
    expect([asked.replies, bugsOf(forwarding)]).toEqual([1, 1]);
  });

  test('in one thread does not affect other threads that wait for the same answer', async () => {
    const node = new TestNode();
    using one = new Forwarding({}, node);
    using other = new Forwarding({}, node);
    one.ask(NAME);
    const asked = other.ask(NAME);
    const bug = jest.spyOn(one.pipeline, 'passAgain').mockImplementation(fail);
    answer(one, 0);
    bug.mockRestore();
    await until('the reply of the other thread', () => asked.reply);
    expect(other.held).toHaveLength(0);
    expect(replyOf(asked)).toEqual(ANSWERED);
  });
});

describe('ThreadGuard, which catches errors of a thread,', () => {
  test('take() counts every error, and logs one error per second with the number of suppressed errors', () => {
    const clock = new TestClock();
    const logger = new MemoryLogger();
    let bugs = 0;
    const guard = new ThreadGuard({ count: () => bugs++ }, clock, logger);
    for (let i = 0; i < 50; i++) guard.run(fail);
    clock.advance(1000);
    guard.take('no error at all');
    expect(bugs).toBe(51);
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { cause: expect.stringContaining('a bug'), not_logged_before: 0 } },
      { level: 'error', fields: { cause: 'no error at all', not_logged_before: 49 } },
    ]);
  });
});

describe('QuestionRun, an upstream query,', () => {
  test('ends a query as failed if its timer throws', () => {
    jest.useFakeTimers();
    const clock = new TestClock();
    const wave = (ask: () => never | object): Upstream =>
      ({ index: 0, health: { usualLatencyMs: 0 }, ask }) as unknown as Upstream;
    const none = (): void => undefined;
    const attempt = { noteSilence: none, resend: none, cancel: none, expire: fail };
    const outcomes: unknown[] = [];
    const asked = question(NAME, 'A');
    const timing = { clock, timeoutMs: 3000 };
    const run = new QuestionRun(asked, [[wave(() => attempt)], [wave(fail)]], timing, (outcome) =>
      outcomes.push(outcome),
    );
    run.start();
    clock.advance(1000);
    expect(() => jest.advanceTimersByTime(1000)).toThrow('a bug');
    expect(outcomes).toMatchObject([{ kind: 'failed', reason: 'servfail' }]);
    // The same holds for a bug after the time limit of a question.
    const last = new QuestionRun(asked, [[wave(() => attempt)]], timing, (outcome) => outcomes.push(outcome));
    last.start();
    clock.advance(3000);
    expect(() => jest.advanceTimersByTime(3000)).toThrow('a bug');
    expect(outcomes).toHaveLength(2);
  });
});
