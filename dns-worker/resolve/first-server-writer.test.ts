import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { latencyClass } from '../../shared/memory/answer-counters.ts';
import { createFirstServers, RECENT_LATENCIES } from '../../shared/memory/first-server-layout.ts';
import { DEFAULT_HARDENING } from '../../shared/policy/hardening-settings.ts';
import type { PoolStrategy, UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import { upstreamOf } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { type FirstServer, FirstServers } from '../first-try/first-servers.ts';
import { Capabilities } from './capability/capabilities.ts';
import { FirstServerWriter } from './first-server-writer.ts';
import { Pool } from './pool.ts';
import type { Upstream } from './upstream.ts';

const TIMEOUT_MS = 3000;
const clock = new TestClock();

let server: ScriptedUpstream;
let memory: SharedArrayBuffer;
let servers: FirstServers;
const opened: Upstream[] = [];
beforeEach(async () => {
  server = await ScriptedUpstream.start();
  memory = createFirstServers();
  servers = new FirstServers(memory, new Capabilities(clock), DEFAULT_HARDENING);
});
afterEach(async () => {
  for (const upstream of opened.splice(0)) upstream.close();
  await server.close();
});

function upstream(index: number, settings: Partial<UpstreamSettings> = {}): Upstream {
  const made = upstreamOf(server, { index, settings, clock });
  opened.push(made);
  return made;
}

function poolOf(strategy: PoolStrategy, upstreams: readonly Upstream[]): Pool {
  return new Pool('pool', strategy, 1, upstreams);
}

/** Writes the servers of pools for the answer thread. */
function write(...pools: Pool[]): FirstServerWriter {
  const writer = new FirstServerWriter(memory, pools, TIMEOUT_MS);
  writer.publish();
  return writer;
}

/** The servers to which the answer thread sends the next question. */
function chosen(): FirstServer[] {
  if (!servers.follow()) return [];
  const list: (FirstServer | null)[] = [];
  const count = servers.choose(list);
  return list.slice(0, count).map((one) => one!);
}

/** The indexes of these servers, for this many questions. */
function numbersOf(questions: number): number[][] {
  return Array.from({ length: questions }, () => chosen().map(({ number }) => number));
}

/** The server of a pool that has only one. */
function only(): FirstServer {
  const [one] = chosen();
  return one!;
}

describe('FirstServerWriter.publish(), which gives the answer threads their servers,', () => {
  test('publishes the first server of a Failover pool', () => {
    write(poolOf('Failover', [upstream(4), upstream(5)]));
    expect(numbersOf(3)).toEqual([[4], [4], [4]]);
  });

  test('publishes all servers of a Parallel pool', () => {
    write(poolOf('Parallel', [upstream(4), upstream(5), upstream(6)]));
    expect(numbersOf(2)).toEqual([
      [4, 5, 6],
      [4, 5, 6],
    ]);
  });

  test('publishes the servers of a Balanced pool in turn', () => {
    write(poolOf('Balanced', [upstream(4), upstream(5), upstream(6)]));
    expect(numbersOf(4)).toEqual([[4], [5], [6], [4]]);
  });

  test('publishes the fastest server of a Fastest pool, and for every 16th query one of the other servers in turn', () => {
    const upstreams = [upstream(0), upstream(1), upstream(2)];
    [30, 10, 20].forEach((ms, at) => upstreams[at]!.health.recordLatency(ms, 1));
    write(poolOf('Fastest', upstreams));
    const asked = numbersOf(48).flat();
    expect(asked.filter((number) => number === 1)).toHaveLength(45);
    expect([asked[15], asked[31], asked[47]]).toEqual([2, 0, 2]);
  });

  test('follows changes in the order of a Fastest pool', () => {
    const upstreams = [upstream(0), upstream(1)];
    [30, 10].forEach((ms, at) => upstreams[at]!.health.recordLatency(ms, 1));
    const writer = write(poolOf('Fastest', upstreams));
    expect(numbersOf(1)).toEqual([[1]]);
    for (let i = 0; i < 20; i++) upstreams[1]!.health.recordLatency(90, 1);
    writer.publish();
    expect(numbersOf(1)).toEqual([[0]]);
  });

  test('publishes servers of the first pool only', () => {
    write(poolOf('Parallel', [upstream(0)]), new Pool('other', 'Parallel', 2, [upstream(1)]));
    expect(numbersOf(1)).toEqual([[0]]);
  });

  test.each<[string, Partial<UpstreamSettings>]>([
    ['has a host name', { host: 'localhost' }],
    ['is asked over TCP', { transport: 'tcp' }],
    ['is asked over TLS', { transport: 'tls' }],
    ['is link-local', { host: 'fe80::1%eth0' }],
  ])('publishes no server while a server %s', (_what, settings) => {
    write(poolOf('Failover', [upstream(0), upstream(1, settings)]));
    expect(numbersOf(1)).toEqual([[]]);
  });

  test('publishes no server for an empty list of servers', () => {
    write();
    expect(numbersOf(1)).toEqual([[]]);
  });

  test('publishes no server if a Parallel pool has more servers than an answer thread can query', () => {
    write(
      poolOf(
        'Parallel',
        Array.from({ length: 9 }, (_, i) => upstream(i)),
      ),
    );
    expect(numbersOf(1)).toEqual([[]]);
    write(
      poolOf(
        'Balanced',
        Array.from({ length: 33 }, (_, i) => upstream(i)),
      ),
    );
    expect(numbersOf(1)).toEqual([[]]);
  });

  const faults: [string, (one: Upstream) => void, (one: Upstream) => void][] = [
    ['is unhealthy', ({ health }) => health.recordFault('timeout'), ({ health }) => health.recordSuccess()],
    ['is silent', ({ health }) => health.recordSilence(300), ({ health }) => health.recordLatency(5, 1)],
    [
      'removes signatures',
      ({ health }) => void (health.removesSignaturesUntilMs = clock.monotonicMs() + 1000),
      () => clock.advance(1000),
    ],
  ];
  test.each(faults)(
    'publishes no server until a faulty server has recovered: it %s',
    (_what, fail, recover) => {
      const [first, second] = [upstream(0), upstream(1)];
      const writer = write(poolOf('Failover', [first, second]));
      expect(numbersOf(1)).toEqual([[0]]);
      fail(second);
      writer.publish();
      expect(numbersOf(1)).toEqual([[]]);
      recover(second);
      writer.publish();
      expect(numbersOf(1)).toEqual([[0]]);
    },
  );

  test('publishes no server after probes found that the server does not support the hardening in use', () => {
    const records = new Capabilities(clock);
    const one = upstreamOf(server, { clock, records });
    opened.push(one);
    const writer = write(poolOf('Failover', [one]));
    expect(numbersOf(1)).toEqual([[0]]);
    records.of({ ip: server.ip, port: server.port }, 'udp').strike('case', 'unsupported');
    writer.publish();
    expect(numbersOf(1)).toEqual([[]]);
  });

  test('sets the maximum wait for a single server to the time range of a repeated query', () => {
    write(poolOf('Failover', [upstream(0)]));
    expect([0, 1].map((random) => only().waitMs(random))).toEqual([300, 900]);
  });

  test('sets the maximum wait to the time after which the next server would be queried', () => {
    const upstreams = [upstream(0), upstream(1)];
    write(poolOf('Failover', upstreams));
    expect([0, 1].map((random) => only().waitMs(random))).toEqual([200, 200]);
    upstreams[0]!.health.recordLatency(100, 1);
    write(poolOf('Failover', upstreams));
    expect([0, 1].map((random) => only().waitMs(random))).toEqual([300, 300]);
    write(poolOf('Failover', [upstream(2)]), new Pool('other', 'Failover', 2, [upstream(3)]));
    expect([0, 1].map((random) => only().waitMs(random))).toEqual([200, 200]);
  });

  test('sets the maximum wait to at most half of the query timeout', () => {
    new FirstServerWriter(memory, [poolOf('Failover', [upstream(0), upstream(1)])], 300).publish();
    expect(only().waitMs(1)).toBe(150);
  });

  test('publishes the address and port of each server', () => {
    write(poolOf('Parallel', [upstream(0), upstream(1, { host: '2001:db8::53', port: 5353 })]));
    const [first, second] = chosen().map(({ address: { bytes, length } }) => [...bytes.subarray(0, length)]);
    expect(first).toEqual([
      2,
      0,
      server.port >>> 8,
      server.port & 0xff,
      127,
      0,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
    ]);
    expect(second!.slice(0, 4)).toEqual([10, 0, 5353 >>> 8, 5353 & 0xff]);
    expect(second!.slice(8, 24)).toEqual([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x53]);
  });
});

describe('FirstServerWriter.takeNews(), which collects results of the answer threads,', () => {
  test('counts the queries and answers of the answer thread exactly once', () => {
    const one = upstream(0);
    const writer = write(poolOf('Failover', [one]));
    const first = only();
    for (const latencyMs of [2, 40]) {
      first.noteAsked();
      first.noteAnswered(latencyMs, 1234);
    }
    first.noteAsked();
    writer.takeNews();
    writer.takeNews();
    expect(one.report()).toMatchObject({ queries: 3, failures: 0, status: 'Healthy' });
    const { counts, sumMs } = one.health.latencyCounts();
    expect([counts[latencyClass(2000)], counts[latencyClass(40_000)]]).toEqual([1, 1]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(sumMs).toBe(42);
    expect([...one.health.latencies()]).toEqual([2, 40]);
    expect(one.health.lastAnswerMs).toBe(1234);
    first.noteAsked();
    first.noteAnswered(3, 1300);
    writer.takeNews();
    expect(one.health.queries).toBe(4);
    expect([...one.health.latencies()]).toEqual([2, 40, 3]);
    expect(one.health.latencyCounts().sumMs).toBe(45);
  });

  test('records the newest latencies of many answers, and counts all answers', () => {
    const one = upstream(0);
    const writer = write(poolOf('Failover', [one]));
    const first = only();
    const answers = RECENT_LATENCIES + 36;
    for (let i = 0; i < answers; i++) {
      first.noteAsked();
      first.noteAnswered(i, 1);
    }
    writer.takeNews();
    const latest = Array.from({ length: RECENT_LATENCIES }, (_, i) => i + 36);
    expect([...one.health.latencies()]).toEqual(latest);
    expect(one.health.queries).toBe(answers);
    expect(one.health.latencyCounts().counts.reduce((sum, count) => sum + count, 0)).toBe(answers);
  });

  test('ignores results for the servers of a replaced resolver', () => {
    const [before, after] = [upstream(0), upstream(0)];
    write(poolOf('Failover', [before])).close();
    const stale = only();
    const writer = write(poolOf('Failover', [after]));
    stale.noteAsked();
    const fresh = only();
    expect(servers.isCurrent(stale)).toBe(false);
    expect(servers.isCurrent(fresh)).toBe(true);
    fresh.noteAsked();
    fresh.noteAnswered(2, 5);
    writer.takeNews();
    expect([before.health.queries, before.health.lastAnswerMs]).toEqual([0, -1]);
    expect(after.health.latencyCounts().sumMs).toBe(2);
  });
});

describe('FirstServerWriter.close()', () => {
  test('collects the remaining results, and writes nothing more', () => {
    const [before, after] = [upstream(0), upstream(7)];
    const replaced = write(poolOf('Failover', [before]));
    only().noteAsked();
    replaced.close();
    expect(before.health.queries).toBe(1);
    write(poolOf('Failover', [after]));
    before.health.recordFault('timeout');
    replaced.publish();
    expect(numbersOf(1)).toEqual([[7]]);
  });
});
