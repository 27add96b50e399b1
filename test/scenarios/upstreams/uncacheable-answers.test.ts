/**
 * Clients that query the same name concurrently, spread over the eight workers of a node, share the upstream's answer.
 */
import { expect, test } from '@jest/globals';
import { MissRing } from '../../../shared/memory/miss-ring.ts';
import { a, type TestResponse } from '../../support/dns/built-messages.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { answersWith } from '../../support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { createNodeMemory, RunningWorker, settingsOf } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';
import { until } from '../../support/parts/until.ts';
import { freePort } from '../../support/weir/free-ports.ts';

const WORKERS = 8;
const CLIENTS = 40;
const QNAME = Uint8Array.of(0xc0, 12);

test.each<[string, TestResponse, boolean, string[]]>([
  ['that must not be cached', { answers: [a(QNAME, '192.0.2.9', 0)] }, true, ['192.0.2.9']],
  ['without records or SOA', {}, true, []],
  ['with the cache disabled', { answers: [a(QNAME, '192.0.2.9')] }, false, ['192.0.2.9']],
])('an answer %s reaches all waiting clients', async (_, parts, enabled, addresses) => {
  await using upstream = await ScriptedUpstream.start();
  await using stack = new AsyncDisposableStack();
  const dnsPort = await freePort(['127.0.0.1']);
  const cache = { ...settingsOf(dnsPort, upstream).cache, enabled };
  const memory = createNodeMemory(WORKERS);
  const workers: RunningWorker[] = [];
  for (let worker = 0; worker < WORKERS; worker++) {
    const node = { memory, worker };
    const started = await RunningWorker.start(snapshotOf([]), {
      upstream,
      settings: { dnsPort, cache, queryTimeoutMs: 60_000 },
      node,
    });
    workers.push(stack.use(started));
  }
  const clients: UdpClient[] = [];
  for (let i = 0; i < CLIENTS; i++) clients.push(stack.use(await UdpClient.open(dnsPort)));

  const replies = clients.map((client) => client.ask('same.example.org', 'A'));
  // Each worker reads its clients' messages in order, so these answers show that the earlier questions were read.
  await Promise.all(clients.map((client) => client.ask('same.example.org', 'ANY')));
  await until(
    'all clients to wait in the workers',
    () => workers.map(waitingIn),
    (waiting) => waiting.every(({ written, taken }) => written === taken),
  );
  const questions = await until(
    'the question',
    () => upstream.udpQueries,
    ({ length }) => length > 0,
  );
  upstream.udpScript = answersWith(parts);
  questions.forEach((question, index) => upstream.udpScript(question, index));
  for (const reply of await Promise.all(replies)) {
    expect(reply.rcode).toBe(0);
    expect(reply.answers.map(({ data }) => data)).toEqual(addresses);
  }
  // The resolver sends the question once more if this has taken longer than the wait of the first try.
  expect(upstream.udpQuestions.length).toBeLessThanOrEqual(2);
});

/** Number of questions that a worker's answer thread has passed on, and number that its resolve thread has accepted. */
function waitingIn({ memory }: RunningWorker): { written: number; taken: number } {
  const ring = new Int32Array(memory.missRing);
  return { written: Atomics.load(ring, MissRing.HEAD_WORD), taken: Atomics.load(ring, MissRing.TAIL_WORD) };
}
