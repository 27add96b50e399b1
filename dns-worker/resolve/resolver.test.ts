import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import type { UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import { opt, question } from '../../test/support/dns/built-messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery, Script } from '../../test/support/dns/scripted-upstream.ts';
import { awaitLateAnswer } from './late-answers.ts';
import { NodeFlights, type FlightResolver, SharedResolver } from './node-flights.ts';
import type { Failed, Resolver } from './resolver.ts';
import {
  REFUSED,
  SERVFAIL,
  WWW,
  answers,
  closeAll,
  fails,
  good,
  pool,
  refers,
  resolve,
  resolver,
  settingsOf,
  silent,
  summary,
  upstream,
} from '../../test/support/dns/asked-resolver.ts';
import { until, within } from '../../test/support/parts/until.ts';

afterEach(closeAll);

/** A resolver in which identical questions share one run. */
function sharing(by: Resolver): FlightResolver {
  return new SharedResolver(by, new NodeFlights(null, 3000, new MemoryLogger()), systemClock);
}

describe('Resolver.resolve, which queries upstream servers,', () => {
  test('calls back once, never before it has returned', async () => {
    const server = await upstream(answers(1));
    for (const by of [resolver([pool('Failover', [settingsOf(server)])]), resolver([])]) {
      let returned = false;
      const early = new Promise<boolean>((done) => {
        by.resolve(WWW, () => done(!returned));
        returned = true;
      });
      expect(await within('the call back', early)).toBe(false);
    }
  });

  test('sends identical queries upstream once and answers all of them', async () => {
    const held: ReceivedQuery[] = [];
    const server = await upstream((query) => held.push(query));
    const by = resolver([pool('Failover', [settingsOf(server)])]);
    const shared = sharing(by);
    const same = Array.from({ length: 50 }, () => resolve(shared));
    const other = resolve(shared, question('www.example.org', 'A', { dnssecOk: true }));
    expect(by.inFlight).toBe(2);
    server.udpScript = (query, index) => {
      held.push(query);
      if (index === 1) for (const each of held) each.reply(good(each, 1));
    };
    expect((await Promise.all([...same, other])).map(summary)).toEqual(
      Array.from({ length: 51 }, () => '0: 1'),
    );
    expect(server.udpQueries).toHaveLength(2);
    expect(by.inFlight).toBe(0);
  });

  test('returns a late answer for a repeated query with an empty set of servers to avoid', async () => {
    const server = await upstream();
    const by = resolver([pool('Failover', [settingsOf(server)])], { queryTimeoutMs: 100 });
    const asked = { ...WWW, avoided: new Set<number>() };
    const failure = (await resolve(by, asked)) as Failed;
    const come = new Promise<void>((done) => awaitLateAnswer(failure, done));
    const sent = server.udpQueries[0]!;
    sent.reply(good(sent, 7));
    await within('the late answer', come);
    expect(summary(await resolve(by, asked))).toBe('0: 7');
  });

  test('queries again over TCP after a truncated answer', async () => {
    const server = await upstream(fails(0x8380));
    server.tcpScript = answers(9);
    expect(summary(await resolve(resolver([pool('Parallel', [settingsOf(server)])])))).toBe('0: 9');
    expect([server.udpQueries.length, server.tcpQueries.length]).toEqual([1, 1]);
  });

  test('queries a tcp:// upstream over TCP only', async () => {
    const server = await upstream();
    server.tcpScript = answers(9);
    expect(summary(await resolve(resolver([pool('Parallel', [settingsOf(server, 'tcp')])])))).toBe('0: 9');
    expect(server.udpQueries).toHaveLength(0);
  });

  test('queries again without EDNS after FORMERR, and does not remember this (CVE-2026-52690)', async () => {
    const server = await upstream((query) => {
      const hasEdns = query.bytes[11] === 1;
      if (hasEdns) fails(0x8181)(query, 0);
      else query.reply(good(query, 4));
    });
    const by = resolver([pool('Failover', [settingsOf(server)])]);
    expect(summary(await resolve(by))).toBe('0: 4');
    expect(summary(await resolve(by))).toBe('0: 4');
    expect(server.udpQueries.map(({ bytes }) => bytes[11])).toEqual([1, 0, 1, 0]);
  });

  test('sends a lost datagram again', async () => {
    const server = await upstream((query, index) => {
      if (index === 1) query.reply(good(query, 1));
    });
    const by = resolver([pool('Failover', [settingsOf(server)])], { queryTimeoutMs: 3000 });
    expect(summary(await resolve(by))).toBe('0: 1');
    expect(server.udpQueries[1]?.port).toBe(server.udpQueries[0]?.port);
  });

  test('fails for queries beyond 16,384, but not for a further client of a query in flight', async () => {
    const bootstrap = await upstream();
    const host: UpstreamSettings = {
      address: 'udp://dns.example',
      transport: 'udp',
      host: 'dns.example',
      port: 53,
    };
    const by = resolver([pool('Failover', [host])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    const shared = sharing(by);
    const first = Array.from({ length: 16_384 }, (_, i) =>
      resolve(shared, question(`n${String(i)}.example.org`, 'A')),
    );
    expect(await resolve(shared)).toEqual({
      kind: 'failed',
      reason: 'overloaded',
      rcode: Rcode.SERVFAIL,
      upstream: -1,
    });
    const joined = resolve(shared, question('n7.example.org', 'A'));
    await by.close();
    expect(summary(await joined)).toBe('network 2');
    expect(new Set((await Promise.all(first)).map(summary))).toEqual(new Set(['network 2']));
  });

  test('fails after close()', async () => {
    const by = resolver([pool('Failover', [settingsOf(await upstream(answers(1)))])]);
    await by.close();
    expect(summary(await resolve(by))).toBe('network 2');
  });
});

describe('Resolver: failures', () => {
  test.each<[string, Script[], string]>([
    ['SERVFAIL everywhere', [fails(SERVFAIL), fails(SERVFAIL)], 'servfail 2'],
    ['REFUSED everywhere', [fails(REFUSED), fails(REFUSED)], 'refused 5'],
    ['NOTIMP everywhere', [fails(0x8184)], 'servfail 4'],
    ['an extended rcode, which is of the hop, everywhere', [fails(0x8180, opt(1))], 'servfail 2'],
    ['an extended rcode like NOERROR in its lower bits', [fails(0x8180, opt(240))], 'servfail 2'],
    ['silence', [silent], 'timeout 2'],
    ['silence and a SERVFAIL', [silent, fails(SERVFAIL)], 'servfail 2'],
  ])('resolve() returns %s', async (_what, scripts, expected) => {
    const servers = await Promise.all(scripts.map((script) => upstream(script)));
    const by = resolver(
      [
        pool(
          'Parallel',
          servers.map((server) => settingsOf(server)),
        ),
      ],
      { queryTimeoutMs: scripts.includes(silent) ? 1000 : 3000 },
    );
    expect(summary(await resolve(by))).toBe(expected);
  });

  test('resolve() fails at once if no server listens', async () => {
    const server = await ScriptedUpstream.start();
    await server.close();
    expect(await resolve(resolver([pool('Failover', [settingsOf(server)])]))).toEqual({
      kind: 'failed',
      reason: 'network',
      rcode: Rcode.SERVFAIL,
      upstream: 0,
    });
  });
});

describe('Resolver: strategies', () => {
  test.each([
    ['SERVFAIL', fails(SERVFAIL)],
    ['REFUSED', fails(REFUSED)],
    ['a referral', refers],
  ])('Parallel: a server with %s is ignored while another server may still answer', async (_what, script) => {
    const slow = await upstream();
    const quick = await upstream((query, index) => {
      script(query, index);
      // The other server answers only after this server has failed.
      setImmediate(() => {
        for (const held of slow.udpQueries) held.reply(good(held, 2));
        slow.udpScript = answers(2);
      });
    });
    const by = resolver([pool('Parallel', [settingsOf(quick), settingsOf(slow)])]);
    expect(summary(await resolve(by))).toBe('1: 2');
  });

  test('Parallel: queries every server, uses the first good answer and still receives the other answers', async () => {
    const servers = [await upstream(silent), await upstream(answers(2)), await upstream(silent)];
    const by = resolver([
      pool(
        'Parallel',
        servers.map((server) => settingsOf(server)),
      ),
    ]);
    expect(summary(await resolve(by))).toBe('1: 2');
    const late = servers[0]!;
    late.udpScript = answers(1);
    const latencies = (): number | undefined => {
      for (const held of late.udpQueries) held.reply(good(held, 1));
      return by.report()[0]?.latenciesMs.length;
    };
    await until('the late answer to be counted', latencies, (count) => count !== 0);
    expect(by.report()[0]).toMatchObject({ queries: 1, failures: 0, status: 'Healthy' });
  });

  test('Failover: queries the second server only when the first fails', async () => {
    const first = await upstream(answers(1));
    const second = await upstream(answers(2));
    const by = resolver([pool('Failover', [settingsOf(first), settingsOf(second)])]);
    expect(summary(await resolve(by))).toBe('0: 1');
    expect(second.udpQueries).toHaveLength(0);
    first.udpScript = fails(SERVFAIL);
    expect(summary(await resolve(by))).toBe('1: 2');
  });

  test('Failover: queries the second server when the first is silent, within the query timeout', async () => {
    const first = await upstream(silent);
    const second = await upstream(answers(2));
    const by = resolver([pool('Failover', [settingsOf(first), settingsOf(second)])], {
      queryTimeoutMs: 3000,
    });
    expect(summary(await resolve(by))).toBe('1: 2');
    expect(first.udpQueries).toHaveLength(1);
  });

  test('Failover: uses the late answer of the first server', async () => {
    const first = await upstream(silent);
    const second = await upstream(() => {
      for (const held of first.udpQueries) held.reply(good(held, 1));
    });
    const by = resolver([pool('Failover', [settingsOf(first), settingsOf(second)])], {
      queryTimeoutMs: 3000,
    });
    expect(summary(await resolve(by))).toBe('0: 1');
  });

  test('Balanced: distributes queries evenly', async () => {
    const servers = [await upstream(answers(1)), await upstream(answers(2)), await upstream(answers(3))];
    const by = resolver([
      pool(
        'Balanced',
        servers.map((server) => settingsOf(server)),
      ),
    ]);
    for (let i = 0; i < 30; i++) await resolve(by, question(`n${String(i)}.example.org`, 'A'));
    expect(servers.map((server) => server.udpQueries.length)).toEqual([10, 10, 10]);
  });

  test('pools are queried in order of priority, the next pool if the previous pool fails', async () => {
    const backup = await upstream(answers(2));
    const main = await upstream(answers(1));
    const by = resolver([pool('Parallel', [settingsOf(backup)], 2), pool('Parallel', [settingsOf(main)], 1)]);
    expect(summary(await resolve(by))).toBe('1: 1');
    expect(backup.udpQueries).toHaveLength(0);
    main.udpScript = fails(REFUSED);
    expect(summary(await resolve(by))).toBe('0: 2');
  });
});
