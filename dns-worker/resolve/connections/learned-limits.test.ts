import { beforeEach, describe, expect, test } from '@jest/globals';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { ownRecord } from '../capability/capabilities.ts';
import { ConnectionTraffic } from './connection-traffic.ts';
import { LearnedLimits } from './learned-limits.ts';

let clock: TestClock;
let limits: LearnedLimits;
beforeEach(() => {
  clock = new TestClock();
  limits = new LearnedLimits(clock, ownRecord(clock));
});

/** A connection that lives for some time, and ends with unanswered queries. */
function endEarly(answers: number, sinceAnswerMs = 0): void {
  const openedMs = clock.monotonicMs();
  clock.advance(10 + sinceAnswerMs);
  limits.noteEarlyEnd(answers, openedMs, clock.monotonicMs() - sinceAnswerMs);
}

/**
 * A connection that gives this many answers, and after a pause does not answer a query that a new connection answers.
 */
function goSilent(breakMs: number, answers = 1): void {
  const traffic = new ConnectionTraffic(clock);
  const query = { sentMs: 0, receivedBefore: 0, idleMs: 0 };
  clock.advance(10);
  for (let i = 0; i < answers; i++) traffic.noteReceived();
  clock.advance(breakMs);
  traffic.noteSent(query);
  limits.noteSilence(query, traffic);
}

describe('LearnedLimits.answers, the learned number of answers per connection,', () => {
  test('is the larger number of answers of two consecutive connections that ended early, for an hour', () => {
    endEarly(3);
    expect(limits.answers).toBe(Infinity);
    endEarly(5);
    expect(limits.answers).toBe(5);
    clock.advance(3_600_000);
    expect(limits.answers).toBe(Infinity);
  });

  test('is not learned from connections that ended at the same time', () => {
    const openedMs = clock.monotonicMs();
    clock.advance(10);
    for (let i = 0; i < 8; i++) limits.noteEarlyEnd(1, openedMs, clock.monotonicMs());
    expect(limits.answers).toBe(Infinity);
    endEarly(2);
    expect(limits.answers).toBe(2);
  });

  test('is 1 if two consecutive connections became silent while in use', () => {
    goSilent(20);
    expect(limits.answers).toBe(Infinity);
    goSilent(20);
    expect([limits.answers, limits.idleMs]).toEqual([1, Infinity]);
  });

  test('is 1 if two connections stopped answering concurrent queries', () => {
    for (let i = 0; i < 2; i++) {
      const traffic = new ConnectionTraffic(clock);
      const query = { sentMs: 0, receivedBefore: 0, idleMs: 0 };
      traffic.noteSent(query);
      clock.advance(10);
      for (let answered = 0; answered < 3; answered++) traffic.noteReceived();
      clock.advance(300);
      limits.noteSilence(query, traffic);
    }
    expect(limits.answers).toBe(1);
  });

  test('is not learned from connections that gave no answer', () => {
    for (let i = 0; i < 3; i++) goSilent(0, 0);
    expect(limits.answers).toBe(Infinity);
  });

  test('is not learned from connections that were idle, or that ended more than a minute apart', () => {
    for (let i = 0; i < 3; i++) endEarly(1, 1001);
    endEarly(1);
    clock.advance(60_000);
    endEarly(1);
    expect(limits.answers).toBe(Infinity);
  });
});

describe('LearnedLimits.idleMs, the learned idle time of connections,', () => {
  test('is half the time after which an idle connection went silent: for 5 minutes, or an hour if that happens again', () => {
    goSilent(4000);
    expect(limits.idleMs).toBe(2000);
    clock.advance(300_000);
    expect(limits.idleMs).toBe(Infinity);
    goSilent(4000);
    goSilent(1800);
    clock.advance(3_599_999);
    expect(limits.idleMs).toBe(900);
    clock.advance(1);
    expect(limits.idleMs).toBe(Infinity);
  });

  test('is not learned from a connection that was idle only for a short time', () => {
    goSilent(499);
    expect(limits.idleMs).toBe(Infinity);
  });
});
