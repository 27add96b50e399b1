/** Answers that few servers send, from the upstream's socket to the client's. */
import { expect, test } from '@jest/globals';
import { a, cname, dname, opt } from '../../support/dns/built-messages.ts';
import type { TestResponse } from '../../support/dns/built-messages.ts';
import { askOverTcp } from '../../support/dns/dns-client.ts';
import { answersWith } from '../../support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';

const NAME = 'www.example.org';
const QNAME = Uint8Array.of(0xc0, 12);
const ADDRESS = a(QNAME, '192.0.2.9');

/** An upstream with this answer. With `isTruncating`, UDP answers are truncated and the answer is sent over TCP. */
async function upstreamWith(parts: TestResponse, isTruncating = false): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.tcpScript = answersWith(parts);
  upstream.udpScript = answersWith(isTruncating ? { flags: 0x8380 } : parts);
  return upstream;
}

test.each([2200, 4000])('an answer with %i addresses is relayed, but not cached', async (count) => {
  const answers = Array.from({ length: count }, (_, i) =>
    a(QNAME, `192.0.${String(i >> 8)}.${String(i & 255)}`),
  );
  await using upstream = await upstreamWith({ answers }, true);
  await using worker = await RunningWorker.start(snapshotOf([]), { upstream });
  for (let asked = 1; asked <= 2; asked++) {
    const reply = await askOverTcp(worker.port, NAME, 'A');
    expect([reply.rcode, reply.truncated, reply.answers.length]).toEqual([0, false, count]);
    expect(upstream.tcpQueries).toHaveLength(asked);
  }
});

test('an answer with sixteen aliases is relayed', async () => {
  const name = (i: number): string => (i === 0 ? NAME : `n${String(i)}.example.org`);
  const aliases = Array.from({ length: 16 }, (_, i) => cname(name(i), name(i + 1)));
  await using upstream = await upstreamWith({ answers: [...aliases, a(name(16), '192.0.2.9')] });
  await using worker = await RunningWorker.start(snapshotOf([]), { upstream });
  const reply = await askOverTcp(worker.port, NAME, 'A');
  expect([reply.rcode, reply.answers.length, reply.answers.at(-1)?.data]).toEqual([0, 17, '192.0.2.9']);
});

test('an answer with two OPT records is relayed', async () => {
  await using upstream = await upstreamWith({ answers: [ADDRESS], additionals: [opt(), opt()] });
  await using worker = await RunningWorker.start(snapshotOf([]), { upstream });
  const reply = await askOverTcp(worker.port, NAME, 'A');
  expect([reply.rcode, reply.data]).toEqual([0, ['192.0.2.9']]);
});

test('an answer with a DNAME but without the synthesized CNAME is relayed with the CNAME', async () => {
  const answers = [dname('example.org', 'example.net'), a('www.example.net', '192.0.2.9')];
  await using upstream = await upstreamWith({ answers });
  await using worker = await RunningWorker.start(snapshotOf([]), { upstream });
  const reply = await askOverTcp(worker.port, NAME, 'A');
  expect(reply.answers.map(({ name, type, data }) => [name, type, data])).toEqual([
    ['example.org', 'DNAME', 'example.net'],
    [NAME, 'CNAME', 'www.example.net'],
    ['www.example.net', 'A', '192.0.2.9'],
  ]);
});
