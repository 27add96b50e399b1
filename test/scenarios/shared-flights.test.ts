/**
 * Workers of one node: an identical question is in flight once, whichever worker sends it (RFC 5452 section 5,
 * RebirthDay).
 */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import { type Claim, QuestionClaims } from '../../dns-worker/resolve/question-claims.ts';
import {
  ClaimArea,
  ClaimBucket,
  ClaimTable,
  claimHolder,
  releaseClaims,
} from '../../shared/memory/claim-table.ts';
import { a, question } from '../support/dns/built-messages.ts';
import { Forwarding, TestNode, replyOf } from '../support/parts/forwarding.ts';
import { until } from '../support/parts/until.ts';

const NAME = 'www.example.org';
const TIMEOUT = { kind: 'failed', reason: 'timeout', rcode: 2, upstream: 0 } as const;
const ANSWERED = { rcode: 'NOERROR', answers: [['A', '192.0.2.1']] };

let node: TestNode;
let workers: Forwarding[];
let one: Forwarding;
let other: Forwarding;
function startWorkers(count: number, settings: Partial<WorkerSettings['cache']> = {}): void {
  node = new TestNode();
  workers = Array.from({ length: count }, () => new Forwarding(settings, node));
  [one, other] = workers as [Forwarding, Forwarding];
}
afterEach(async () => {
  for (const worker of workers) worker[Symbol.dispose]();
  // Another waiting worker now sends the question, so all workers are disposed of a second time.
  await turn();
  for (const worker of workers) worker[Symbol.dispose]();
});

/** Lets pending notifications run. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
/** Questions in flight of each worker. */
const questions = (): number[] => workers.map(({ held }) => held.length);
const untilHeld = (by: Forwarding): Promise<unknown> =>
  until(
    'one question in flight at the upstreams',
    () => by.held,
    ({ length }) => length === 1,
  );
const untilReplied = (...asked: readonly { reply: unknown }[]): Promise<unknown> =>
  until(
    `${asked.length} replies`,
    () => asked.map(({ reply }) => reply),
    (replies) => replies.every((reply) => reply !== null),
  );
const answer = (by: Forwarding, ttl = 300): void => by.answer({ answers: [a(NAME, '192.0.2.1', ttl)] });

describe.each([2, 8])('%i workers with identical queries', (count) => {
  beforeEach(() => startWorkers(count));

  test('send one query to the upstreams, and all reply to their clients', async () => {
    const asked = workers.flatMap((worker) => [worker.ask(NAME), worker.ask(NAME)]);
    expect(questions()).toEqual([1, ...Array<number>(count - 1).fill(0)]);
    answer(one);
    await untilReplied(...asked);
    expect(asked.map(replyOf)).toEqual(asked.map(() => ANSWERED));
    expect(questions()).toEqual(Array(count).fill(0));
    expect(other.lastLogged).toMatchObject({ status: 'CACHED' });
  });

  test('share an uncacheable answer only with the clients that were waiting for it', async () => {
    const asked = workers.map((worker) => worker.ask(NAME));
    answer(one, 0);
    await untilReplied(...asked);
    expect(asked.map(replyOf)).toEqual(asked.map(() => ANSWERED));
    expect(other.lastLogged).toMatchObject({ status: 'ALLOWED', upstream: 1 });
    expect(questions()).toEqual(Array(count).fill(0));
    other.ask(NAME);
    expect(other.held).toHaveLength(1);
  });

  test('share a negative answer without a SOA', async () => {
    const asked = workers.map((worker) => worker.ask(NAME));
    one.answer({});
    await untilReplied(...asked);
    expect(asked.map(replyOf)).toEqual(asked.map(() => ({ rcode: 'NOERROR', answers: [] })));
    expect(questions()).toEqual(Array(count).fill(0));
  });

  test.each([
    ['an answer', 'NOERROR', (): void => answer(one)],
    ['a failure', 'SERVFAIL', (): void => one.settle(TIMEOUT)],
  ])('share %s when the cache is disabled', async (_, rcode, end) => {
    startWorkers(count, { enabled: false });
    const asked = workers.map((worker) => worker.ask(NAME));
    end();
    await untilReplied(...asked);
    expect(asked.map((each) => replyOf(each)?.rcode)).toEqual(asked.map(() => rcode));
    expect(questions()).toEqual(Array(count).fill(0));
  });

  test('share an answer of the maximum length', async () => {
    const asked = workers.map((worker) => worker.ask(NAME));
    const answers = Array.from({ length: 4000 }, (_, i) =>
      a(Uint8Array.of(0xc0, 12), `192.0.${String(i >>> 8)}.${String(i & 255)}`),
    );
    one.answer({ answers });
    await untilReplied(...asked);
    expect(asked.map((each) => replyOf(each)?.answers.length)).toEqual(asked.map(() => 4000));
    expect(questions()).toEqual(Array(count).fill(0));
  });

  test('return the failure of the single upstream query to all clients', async () => {
    const asked = workers.map((worker) => worker.ask(NAME));
    one.settle(TIMEOUT);
    await untilReplied(...asked);
    expect(asked.map(replyOf)).toEqual(asked.map(() => ({ rcode: 'SERVFAIL', answers: [] })));
    expect(questions()).toEqual(Array(count).fill(0));
  });

  test('send their own upstream query if the worker that sent the shared one lacked a resource', async () => {
    const asked = [one.ask(NAME), other.ask(NAME)];
    one.settle({ kind: 'failed', reason: 'overloaded', rcode: 2, upstream: -1 });
    await untilHeld(other);
    answer(other);
    expect(asked.map((each) => replyOf(each)?.rcode)).toEqual(['SERVFAIL', 'NOERROR']);
  });

  test('continue if the thread of one worker has died', async () => {
    const asked = other.ask(NAME);
    answer(other, 0);
    one.ask(NAME);
    const waiting = other.ask(NAME);
    expect(other.held).toHaveLength(0);
    releaseClaims(node.claims, 1);
    await turn();
    expect(other.held).toHaveLength(0);
    releaseClaims(node.claims, 0);
    await untilHeld(other);
    answer(other);
    expect([asked, waiting].map(replyOf)).toEqual([ANSWERED, ANSWERED]);
  });

  test('take over an upstream query that a dead worker had claimed', async () => {
    one.ask(NAME);
    one.held.length = 0;
    node.clock.advance(6_000);
    const early = other.ask(NAME);
    expect(other.held).toHaveLength(0);
    node.clock.advance(3_000);
    const third = new Forwarding({}, node);
    const late = third.ask(NAME);
    answer(third);
    await untilReplied(early);
    expect([early, late].map(replyOf)).toEqual([ANSWERED, ANSWERED]);
  });

  test('stop waiting for each other after the timeout of a query', async () => {
    node.timeoutMs = 20;
    const impatient = new Forwarding({}, node);
    one.ask(NAME);
    const asked = impatient.ask(NAME);
    node.clock.advance(20);
    await untilReplied(asked);
    expect(replyOf(asked)).toEqual({ rcode: 'SERVFAIL', answers: [] });
    expect(impatient.lastLogged).toMatchObject({ status: 'TIMEOUT' });
    expect(impatient.held).toHaveLength(0);
    // No server caused the failure, so other clients do not get a cached failure.
    answer(one, 0);
    const next = impatient.ask(NAME);
    answer(impatient);
    expect(replyOf(next)).toEqual(ANSWERED);
  });

  test("apply the policy of each worker's client to the answer that another worker received", async () => {
    other.use([{ text: `${NAME}\n`, reading: { kind: 'block', subdomains: false } }]);
    other.use([]);
    one.ask(NAME);
    const asked = other.ask(NAME);
    other.use([{ text: `${NAME}\n`, reading: { kind: 'block', subdomains: false } }]);
    answer(one);
    await untilReplied(asked);
    expect(other.lastLogged).toMatchObject({ status: 'BLOCKED_LIST' });
  });

  test('send separate upstream queries if the type, the forward zone or the client subnet differs', () => {
    one.ask(NAME);
    other.ask(NAME, { qtype: 28 });
    other.ask('www.example.net');
    expect(other.held).toHaveLength(2);
    const claims = claimsOf(node, ClaimArea.CLIENTS);
    expect(claims.claim(0, question(NAME, 'A')).isMine).toBe(false);
    for (const [partition, flags] of [
      [1, {}],
      [0, { dnssecOk: true }],
      [0, { checkingDisabled: true }],
      [0, { ecs: Uint8Array.of(0, 1, 24, 0, 192, 0, 2) }],
    ] as const)
      expect(claims.claim(partition, question(NAME, 'A', flags)).isMine).toBe(true);
  });

  test('wait if the table of upstream queries is full, and then return the right answer', async () => {
    const claims = claimsOf(node, ClaimArea.CLIENTS);
    const held: Claim[] = [];
    let crowded = '';
    for (let i = 0; crowded === '' && i < 1_000_000; i++) {
      const claim = claims.claim(0, question(`n${String(i)}.example.org`, 'A'));
      if (claim.isMine) held.push(claim);
      else crowded = `n${String(i)}.example.org`;
    }
    // More questions than one client network may have in flight (8192).
    expect(held.length).toBeGreaterThan(8192);
    const asked = one.ask(crowded);
    expect(one.held).toHaveLength(0);
    for (const claim of held) claims.release(claim, () => undefined);
    await untilHeld(one);
    one.answer({ answers: [a(crowded, '192.0.2.2')] });
    expect(replyOf(asked)).toEqual({ rcode: 'NOERROR', answers: [['A', '192.0.2.2']] });
  });

  test('still resolve names if a dead thread has left a lock, until the supervisor releases it', async () => {
    const words = new Int32Array(node.claims);
    const locks = ClaimTable.HEAD_WORDS + ClaimBucket.LOCK_AT;
    for (let word = locks; word < words.length; word += ClaimBucket.WORDS) words[word] = claimHolder(5);
    one.ask(NAME);
    expect(one.held).toHaveLength(1);
    releaseClaims(node.claims, 5);
    one.ask('next.example.org');
    other.ask('next.example.org');
    expect([one.held.length, other.held.length]).toEqual([2, 0]);
    await turn();
  });
});

function claimsOf({ claims: memory, clock }: TestNode, area: 0 | 1): QuestionClaims {
  return new QuestionClaims({ memory, worker: 7, clock, longestMs: 5000 }, area);
}
