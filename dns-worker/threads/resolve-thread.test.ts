import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../shared/dns/name.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import type { FromWorker } from '../../shared/threads/messages.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { TcpClient, UdpClient } from '../../test/support/dns/dns-client.ts';
import { answers } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../test/support/parts/running-worker.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until } from '../../test/support/parts/until.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const ADS = snapshotOf([{ text: '||ads.example^', reading: BLOCK }], {}, 1);

async function upstreamOf(lastOctet: number): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = answers(lastOctet);
  return upstream;
}

/** Messages of one type from a resolve thread. */
function messagesOf<T extends FromWorker['type']>(
  worker: RunningWorker,
  type: T,
): Extract<FromWorker, { type: T }>[] {
  return worker.messages.resolve.filter(
    (message): message is Extract<FromWorker, { type: T }> => message.type === type,
  );
}

describe('runResolveThread(), the thread that queries upstreams,', () => {
  test('queries the upstreams for cache misses of the answer thread, and fills the cache of the node', async () => {
    await using upstream = await upstreamOf(7);
    await using worker = await RunningWorker.start(ADS, { upstream });
    const client = await UdpClient.open(worker.port);
    expect((await client.ask('www.example', 'A')).data).toEqual(['192.0.2.7']);
    expect((await client.ask('www.example', 'A')).data).toEqual(['192.0.2.7']);
    expect(upstream.udpQueries).toHaveLength(1);
    client.close();
  });

  test('reports its upstreams before it reports that it is ready', async () => {
    await using upstream = await upstreamOf(7);
    await using worker = await RunningWorker.start(ADS, { upstream });
    const types = worker.messages.resolve.map(({ type }) => type);
    expect(types.indexOf('upstreams')).toBeGreaterThanOrEqual(0);
    expect(types.indexOf('upstreams')).toBeLessThan(types.indexOf('ready'));
  });

  test.each(['auto', 'dgram'] as const)(
    'answers over TCP, and over UDP if there is no answer thread (%s)',
    async (udpBackend) => {
      await using upstream = await upstreamOf(7);
      const roles = udpBackend === 'dgram' ? (['resolve'] as const) : (['resolve', 'answer'] as const);
      await using worker = await RunningWorker.start(ADS, { upstream, roles, settings: { udpBackend } });
      const [tcp, udp] = [await TcpClient.open(worker.port), await UdpClient.open(worker.port)];
      for (const client of [tcp, udp]) {
        expect((await client.ask('www.example', 'A')).data).toEqual(['192.0.2.7']);
        expect((await client.ask('x.ads.example', 'A')).data).toEqual(['0.0.0.0']);
      }
      if (udpBackend === 'dgram')
        expect(messagesOf(worker, 'ready')).toEqual([{ type: 'ready', backend: 'dgram' }]);
      await tcp.close();
      udp.close();
    },
  );

  test('activates a policy snapshot, and reports its upstreams', async () => {
    await using upstream = await upstreamOf(7);
    await using worker = await RunningWorker.start(ADS, { upstream, roles: ['resolve'] });
    const tcp = await TcpClient.open(worker.port);
    worker.post('resolve', { type: 'snapshot', snapshot: snapshotOf([], {}, 2) });
    await until(
      'the second snapshot to be active',
      () => messagesOf(worker, 'snapshot-active').at(-1),
      (last) => last?.version === 2,
    );
    expect((await tcp.ask('x.ads.example', 'A')).data).toEqual(['192.0.2.7']);
    await until(
      'the query to be counted',
      () => messagesOf(worker, 'upstreams').at(-1),
      (last) => last?.upstreams.pools[0]?.queries === 1,
    );
    expect(messagesOf(worker, 'upstreams').at(-1)!.upstreams.pools).toMatchObject([
      { address: 'udp://upstream', failures: 0 },
    ]);
    await tcp.close();
  });

  test('explains a query', async () => {
    await using worker = await RunningWorker.start(ADS, { roles: ['resolve'] });
    worker.post('resolve', {
      type: 'explain',
      id: 5,
      qname: nameFromText('x.ads.example')!,
      qtype: 1,
      client: addressFromText('192.0.2.1')!,
    });
    await until(
      'the explanation',
      () => messagesOf(worker, 'explained').length,
      (count) => count > 0,
    );
    const [{ id, explanation }] = messagesOf(worker, 'explained') as [
      ReturnType<typeof messagesOf<'explained'>>[0],
    ];
    expect([id, explanation.stages.at(-1)]).toMatchObject([5, { stage: 'policy', result: 'answered' }]);
  });

  test('reports no DNSSEC keys if validation is disabled', async () => {
    await using worker = await RunningWorker.start(ADS, { roles: ['resolve'] });
    worker.post('resolve', { type: 'observe-trust-point', id: 6, zone: Uint8Array.of(0) });
    await until(
      'the trust point',
      () => messagesOf(worker, 'trust-point').length,
      (count) => count > 0,
    );
    expect(messagesOf(worker, 'trust-point')).toEqual([{ type: 'trust-point', id: 6, keys: null }]);
  });

  test('ignores test hooks unless they are enabled', async () => {
    await using worker = await RunningWorker.start(ADS, { roles: ['resolve'] });
    worker.post('resolve', { type: 'fault', fault: 'exit' });
    worker.post('resolve', { type: 'measure' });
    worker.post('resolve', { type: 'observe-trust-point', id: 1, zone: Uint8Array.of(0) });
    await until(
      'the trust point',
      () => messagesOf(worker, 'trust-point').length,
      (count) => count > 0,
    );
    expect([worker.hasEnded('resolve'), messagesOf(worker, 'measures')]).toEqual([false, []]);
  });

  test('answers queries in flight before it ends', async () => {
    await using upstream = await ScriptedUpstream.start();
    await using worker = await RunningWorker.start(ADS, { upstream, roles: ['resolve'] });
    const tcp = await TcpClient.open(worker.port);
    const asked = tcp.ask('www.example', 'A');
    await until(
      'the question to the upstream',
      () => upstream.udpQueries.length,
      (count) => count === 1,
    );
    worker.post('resolve', { type: 'drain', keepSockets: false, withinMs: 3500 });
    answers(7)(upstream.udpQueries[0]!, 0);
    expect((await asked).data).toEqual(['192.0.2.7']);
    await until('the resolve thread to end', () => worker.hasEnded('resolve'));
    expect(messagesOf(worker, 'drained')).toHaveLength(1);
  });

  test('updates its heartbeat for the supervisor', async () => {
    await using worker = await RunningWorker.start(ADS, { roles: ['resolve'] });
    const control = new Int32Array(worker.memory.control);
    await until(
      'a second heartbeat',
      () => Atomics.load(control, WorkerControl.RESOLVE_BEAT_WORD),
      (now) => now > 1,
    );
  });
});
