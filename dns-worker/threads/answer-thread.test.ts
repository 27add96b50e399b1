import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { Counter } from '../../shared/memory/counters.ts';
import { MissRing } from '../../shared/memory/miss-ring.ts';
import { LogRing } from '../../shared/query-log.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { query } from '../../test/support/dns/dns-message.ts';
import { describeCalls } from '../../test/support/parts/system-calls.ts';
import { RunningWorker } from '../../test/support/parts/running-worker.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until } from '../../test/support/parts/until.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const ADS = snapshotOf([{ text: '||ads.example^', reading: BLOCK }], {}, 1);
const OTHERS = snapshotOf([{ text: '||other.example^', reading: BLOCK }], {}, 2);

function start(port?: number): Promise<RunningWorker> {
  const settings = port === undefined ? {} : { dnsPort: port };
  return RunningWorker.start(ADS, { roles: ['answer'], settings });
}

function missesOf({ memory }: RunningWorker): number {
  return Atomics.load(new Int32Array(memory.missRing), MissRing.HEAD_WORD);
}

describeCalls('runAnswerThread(), the thread that answers over UDP,', () => {
  test('answers by policy, and logs and counts its answers', async () => {
    await using worker = await start();
    const client = await UdpClient.open(worker.port);
    const reply = await client.ask('x.ads.example', 'A');
    expect(reply.data).toEqual(['0.0.0.0']);
    await until(
      'the row to be logged',
      () => Atomics.load(new Int32Array(worker.memory.answerLog), LogRing.HEAD_WORD),
      (now) => now === 1,
    );
    expect(missesOf(worker)).toBe(0);
    client.close();
  });

  test('passes queries that it cannot answer to the resolve thread', async () => {
    await using worker = await start();
    const client = await UdpClient.open(worker.port);
    await client.send(query('www.example', 'A'));
    await until(
      'the miss',
      () => missesOf(worker),
      (now) => now === 1,
    );
    expect(client.unexpected).toEqual([]);
    client.close();
  });

  test('drops and counts queries for the resolve thread while the ring is full', async () => {
    await using worker = await start();
    const counters = new Float64Array(worker.memory.answerCounters);
    const client = await UdpClient.open(worker.port);
    // One client's share of the ring is half of it.
    const sendMore = async (): Promise<number> => {
      await Promise.all(Array.from({ length: 200 }, () => client.send(query('www.example', 'A'))));
      return counters[Counter.UNRESOLVED_DROPPED]!;
    };
    await until('a query to be dropped', sendMore, Boolean, { pauseMs: 1 });
    expect(missesOf(worker)).toBe(MissRing.CAPACITY / 2);
    client.close();
  });

  test('answers by a new policy snapshot once it has reported the snapshot as active', async () => {
    await using worker = await start();
    const client = await UdpClient.open(worker.port);
    const versions = (): number[] =>
      worker.messages.answer.flatMap((message) =>
        message.type === 'snapshot-active' ? [message.version] : [],
      );
    await until('the first snapshot to be active', versions, (all) => all.length === 1);
    worker.post('answer', { type: 'snapshot', snapshot: OTHERS });
    await until('the second snapshot to be active', versions, (all) => all.length === 2);
    expect(versions()).toEqual([1, 2]);
    expect((await client.ask('x.other.example', 'A')).data).toEqual(['0.0.0.0']);
    client.close();
  });

  test('ends when the supervisor asks it to drain', async () => {
    const worker = await start();
    worker.post('answer', { type: 'drain', keepSockets: false, withinMs: 3500 });
    await until('the answer thread to end', () => worker.hasEnded('answer'));
    expect(worker.hasReported('answer', 'drained')).toBe(true);
  });

  test('reports which address it cannot listen on, and ends', async () => {
    const taken = createSocket('udp4');
    taken.bind(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address();
    const worker = await start(port);
    expect(worker.messages.answer).toEqual([
      { type: 'listen-failed', address: '127.0.0.1', port, code: 'EADDRINUSE' },
    ]);
    taken.close();
  });
});
