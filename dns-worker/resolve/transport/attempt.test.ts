import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { textAnswer } from '../../../test/support/dns/record-text.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { Health } from '../health/health.ts';
import { Attempt, type AttemptKind, type AttemptOutcome, isDefinitive } from './attempt.ts';
import type { Exchange, ExchangeOutcome } from './exchange.ts';

/** An exchange that counts the calls of its methods. */
class CountingExchange implements Exchange {
  resends = 0;
  cancels = 0;
  wasQueued = false;

  resend(): void {
    this.resends++;
  }

  cancel(): void {
    this.cancels++;
  }
}

/** An attempt that has begun, with two exchanges. */
function begin(kind: AttemptKind = 'live') {
  const clock = new TestClock();
  const health = new Health({ enabled: true, failureThreshold: 1, successThreshold: 1 }, () => undefined);
  const outcomes: AttemptOutcome[] = [];
  const attempt = new Attempt({ health }, clock, kind, (_, outcome) => outcomes.push(outcome));
  const exchanges = [new CountingExchange(), new CountingExchange()];
  attempt.exchanges.push(...exchanges);
  return { clock, health, outcomes, attempt, exchanges };
}

function answer(rcode: number): ExchangeOutcome {
  return { kind: 'answer', answer: textAnswer('', '', { rcode }) };
}

describe('isDefinitive(), whether an RCODE ends a query,', () => {
  test('is true for the RCODEs that end a query', () => {
    const settled = Object.values(Rcode).filter(isDefinitive);
    expect(settled).toEqual([Rcode.NOERROR, Rcode.NXDOMAIN, Rcode.YXDOMAIN]);
  });
});

describe('Attempt.end(), the end of a query to one server,', () => {
  test('uses the answer once, cancels the other exchanges, and records latency and health', () => {
    const { attempt, clock, exchanges, health, outcomes } = begin();
    clock.advance(30);
    attempt.end(answer(Rcode.NXDOMAIN));
    attempt.end(answer(Rcode.NOERROR));
    expect(outcomes).toMatchObject([{ kind: 'answer', answer: { rcode: Rcode.NXDOMAIN } }]);
    expect(exchanges.map(({ cancels }) => cancels)).toEqual([1, 1]);
    expect(health).toMatchObject({ status: 'Healthy', failures: 0, smoothedLatencyMs: 30 });
    expect(health.lastAnswerMs).toBe(clock.monotonicMs());
  });

  test('counts an RCODE that does not end the query as a failure, but not as a fault of the server', () => {
    const { attempt, health, outcomes } = begin();
    attempt.end(answer(Rcode.SERVFAIL));
    expect(outcomes).toMatchObject([{ kind: 'answer' }]);
    expect(health).toMatchObject({ failures: 1, consecutiveFailures: 0, lastError: 'SERVFAIL' });
  });

  test.each([
    ['network', 1, 1, false],
    ['malformed', 1, 1, false],
    ['unusable', 1, 0, true],
    ['local', 0, 0, false],
  ] as const)(
    'counts failures and faults for the failure kind "%s"',
    (reason, failures, faults, isAnswer) => {
      const { attempt, health, outcomes } = begin();
      attempt.end({ kind: 'failed', reason, detail: 'what it was' });
      expect(outcomes).toEqual([{ kind: 'failed', reason }]);
      expect(health).toMatchObject({ failures, consecutiveFailures: faults, lastError: 'what it was' });
      expect(health.lastAnswerMs >= 0).toBe(isAnswer);
    },
  );

  test('treats an answer over TCP that is still truncated as unusable', () => {
    const { attempt, outcomes } = begin();
    attempt.end({ kind: 'truncated' });
    expect(outcomes).toEqual([{ kind: 'failed', reason: 'unusable' }]);
  });

  test('does not count a probe as a client query', () => {
    const { attempt, health } = begin('probe');
    attempt.end({ kind: 'failed', reason: 'network', detail: 'x' });
    expect(health).toMatchObject({ failures: 0, consecutiveFailures: 1 });
  });
});

describe('Attempt.end() for a query that is sent again', () => {
  test('counts the failure against the server only once', () => {
    const { attempt, health } = begin('repeated');
    attempt.end({ kind: 'failed', reason: 'network', detail: 'x' });
    expect(health).toMatchObject({ failures: 0, consecutiveFailures: 0, lastError: 'x' });
  });
});

describe('Attempt.resend(), for a lost datagram,', () => {
  test('sends the query again, to a different address of the server', () => {
    const { attempt, exchanges } = begin();
    let silences = 0;
    attempt.onSilence = () => silences++;
    attempt.resend();
    expect([...exchanges.map(({ resends }) => resends), silences]).toEqual([1, 1, 1]);
  });
});

describe('Attempt.cancel()', () => {
  test('ends the attempt once, without an outcome', () => {
    const { attempt, exchanges, outcomes } = begin();
    let over = 0;
    attempt.onOver = () => over++;
    attempt.cancel();
    attempt.cancel();
    attempt.end(answer(Rcode.NOERROR));
    expect([attempt.isOver, over, outcomes.length, exchanges[0]!.cancels]).toEqual([true, 1, 0, 1]);
  });
});

describe('Attempt.timeOut() without an answer', () => {
  test('counts a failure if the server has answered no query in that time', () => {
    const { attempt, clock, health } = begin();
    let reported = 0;
    attempt.onTimeOut = () => reported++;
    clock.advance(2000);
    attempt.timeOut();
    expect([attempt.isOver, reported]).toEqual([true, 1]);
    expect(health).toMatchObject({
      failures: 1,
      consecutiveFailures: 1,
      lastError: 'timeout',
      smoothedLatencyMs: 2000,
    });
  });

  test('marks the server as suspect if it has answered other queries in that time', () => {
    const { attempt, clock, health } = begin();
    clock.advance(1000);
    health.recordLatency(5, clock.monotonicMs());
    attempt.timeOut();
    expect(health).toMatchObject({ failures: 1, consecutiveFailures: 0, lastError: 'timeout' });
  });

  test('does not affect the server if the query had to wait on this machine', () => {
    const { attempt, exchanges, health } = begin();
    exchanges[1]!.wasQueued = true;
    attempt.timeOut();
    expect(attempt.isOver).toBe(true);
    expect(health).toMatchObject({ failures: 0, consecutiveFailures: 0, lastError: null });
  });
});

describe('Attempt.expire() at the end of a query', () => {
  test('counts the timeout once, and still accepts the late answer', () => {
    const { attempt, clock, exchanges, health, outcomes } = begin();
    clock.advance(3000);
    attempt.expire();
    attempt.expire();
    expect([attempt.isOver, exchanges[0]!.cancels]).toEqual([false, 0]);
    expect(health).toMatchObject({ failures: 1, consecutiveFailures: 1, lastError: 'timeout' });
    clock.advance(1000);
    attempt.end(answer(Rcode.NOERROR));
    expect(outcomes).toMatchObject([{ kind: 'answer' }]);
    expect(health).toMatchObject({ failures: 1, consecutiveFailures: 0, lastAnswerMs: clock.monotonicMs() });
  });

  test('counts no failure after the expiry, and cancels a query that is still queued', () => {
    const late = begin();
    late.attempt.expire();
    late.attempt.end({ kind: 'failed', reason: 'network', detail: 'x' });
    expect(late.health).toMatchObject({ failures: 1, consecutiveFailures: 1, lastError: 'x' });
    const queued = begin();
    queued.exchanges[0]!.wasQueued = true;
    queued.attempt.expire();
    expect([queued.attempt.isOver, queued.health.failures]).toEqual([true, 0]);
  });
});

describe('Attempt.noteSilence() of a server', () => {
  test('marks a server as suspect that has answered no query since the attempt began', () => {
    const { attempt, clock, health } = begin();
    clock.advance(400);
    attempt.noteSilence();
    expect(health).toMatchObject({ isSuspect: true, smoothedLatencyMs: 400 });
  });

  test.each(['is over', 'had to wait here', 'asks a server that answers others'])(
    'does not change the server if the attempt %s',
    (state) => {
      const { attempt, clock, exchanges, health } = begin();
      clock.advance(400);
      if (state === 'is over') attempt.cancel();
      else if (state === 'had to wait here') exchanges[0]!.wasQueued = true;
      else health.recordLatency(1, clock.monotonicMs());
      attempt.noteSilence();
      expect(health.isSuspect).toBe(false);
    },
  );
});
