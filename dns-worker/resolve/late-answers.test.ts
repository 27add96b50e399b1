import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { question } from '../../test/support/dns/built-messages.ts';
import { answers, upstreamOf } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { within } from '../../test/support/parts/until.ts';
import { awaitLateAnswer, LateAnswers } from './late-answers.ts';
import { QuestionRun } from './question-run.ts';
import type { Failed } from './resolution.ts';
import type { Upstream } from './upstream.ts';

const WWW = question('www.example.org', 'A');

let server: ScriptedUpstream;
let upstream: Upstream;
let clock: TestClock;
let late: LateAnswers;
beforeEach(async () => {
  server = await ScriptedUpstream.start();
  upstream = upstreamOf(server);
  clock = new TestClock();
  late = new LateAnswers(clock);
});
afterEach(async () => {
  late.close();
  upstream.close();
  await server.close();
});

/** Sends a question that times out; resolves when the resolver waits for its late answer. */
function timeOut(asked = WWW): Promise<Failed> {
  const failed = new Promise<Failed>((resolve) => {
    const timing = { clock: systemClock, timeoutMs: 50 };
    const run = new QuestionRun(asked, [[upstream]], timing, (resolution) => {
      if (resolution.kind !== 'failed' || !run.isOpen) return;
      late.listen(asked, run, resolution);
      resolve(resolution);
    });
    run.start();
  });
  return within('the question to time out', failed);
}

/** Answers the first question. */
async function answer(failure: Failed): Promise<void> {
  const come = new Promise<void>((resolve) => awaitLateAnswer(failure, resolve));
  answers(7)(server.udpQueries[0]!, 0);
  await within('the late answer', come);
}

describe('LateAnswers, upstream replies after the timeout,', () => {
  test('take() returns a late answer once', async () => {
    await answer(await timeOut());
    expect(late.take(question('other.example.org', 'A'))).toBeNull();
    expect(late.take(WWW)).toMatchObject({ kind: 'answer', upstream: 0 });
    expect(late.take(WWW)).toBeNull();
    expect(upstream.health.lastAnswerMs).toBeGreaterThan(0);
  });

  test('take() returns no late answer after a second', async () => {
    await answer(await timeOut());
    clock.advance(1000);
    expect(late.take(WWW)).toBeNull();
  });

  test('take() and close() stop waiting for the late answer of a query', async () => {
    const other = question('other.example.org', 'A');
    const failures = [await timeOut(), await timeOut(other)];
    let come = 0;
    for (const failure of failures) awaitLateAnswer(failure, () => come++);
    expect(late.take(WWW)).toBeNull();
    late.close();
    for (const query of server.udpQueries) answers(7)(query, 0);
    // Late replies arrive before the answer to a later question.
    server.udpScript = answers(1);
    await within('another answer', new Promise((resolve) => void upstream.ask(WWW, resolve)));
    expect(come).toBe(0);
  });

  test('waits for late answers of at most 256 queries', () => {
    const cancelled: number[] = [];
    for (let i = 0; i < 257; i++) {
      const run = { listen: () => undefined, cancel: () => cancelled.push(i) };
      const failure = { kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 } as const;
      late.listen(question(`n${String(i)}.example.org`, 'A'), run, failure);
    }
    expect(cancelled).toEqual([256]);
  });
});

describe('awaitLateAnswer() of an upstream', () => {
  test('calls only the first caller that waits for the late answer of a query', async () => {
    const failure = await timeOut();
    const called: string[] = [];
    const come = new Promise<void>((resolve) => {
      awaitLateAnswer(failure, () => {
        called.push('first');
        resolve();
      });
    });
    awaitLateAnswer(failure, () => called.push('second'));
    awaitLateAnswer({ ...failure }, () => called.push('other'));
    answers(7)(server.udpQueries[0]!, 0);
    await within('the late answer', come);
    expect(called).toEqual(['first']);
  });
});
