import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import type { UpstreamReport } from '../../shared/threads/messages.ts';
import type { PoolSettings, PoolStrategy, UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import {
  type TestRecord,
  a,
  cname,
  idOf,
  ns,
  opt,
  question,
  questionOf,
  response,
} from '../../test/support/dns/built-messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery, Script } from '../../test/support/dns/scripted-upstream.ts';
import { NodeFlights, type QuestionTaker } from './node-flights.ts';
import type { Question } from './response/question.ts';
import { MAX_RECORDS } from './response/record-table.ts';
import type { Resolution, ResolverSettings } from './resolver.ts';
import { Resolver } from './resolver.ts';
import { SharedResolver } from './shared-resolver.ts';

const WWW = question('www.example.org', 'A');
const HEALTH_OFF = {
  enabled: false,
  intervalSecs: 30,
  timeoutMs: 2000,
  failureThreshold: 3,
  successThreshold: 2,
};
const SERVFAIL = 0x8182;
const REFUSED = 0x8185;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function upstream(script: Script = () => undefined): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = script;
  cleanups.push(() => server.close());
  return server;
}

/** Scripts: a good answer, an answer of these flags, silence. */
function answers(lastOctet: number): Script {
  return (query) => query.reply(good(query, lastOctet));
}

function fails(flags: number, ...additionals: TestRecord[]): Script {
  return (query) =>
    query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags, additionals }));
}

const refers: Script = (query) => {
  const authorities = [ns('org', 'ns.example.org')];
  query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags: 0x8100, authorities }));
};

const silent: Script = () => undefined;

function good(query: ReceivedQuery, lastOctet: number): Uint8Array {
  const record = a(Uint8Array.of(0xc0, 12), `192.0.2.${String(lastOctet)}`);
  return response(questionOf(query.bytes), { id: idOf(query.bytes), answers: [record] });
}

function settingsOf(
  server: ScriptedUpstream,
  transport: UpstreamSettings['transport'] = 'udp',
): UpstreamSettings {
  return {
    address: `${transport}://${server.ip}:${String(server.port)}`,
    transport,
    host: server.ip,
    port: server.port,
  };
}

function pool(strategy: PoolStrategy, servers: readonly UpstreamSettings[], priority = 1): PoolSettings {
  return { name: `pool ${String(priority)}`, strategy, priority, servers };
}

function resolver(pools: readonly PoolSettings[], more: Partial<ResolverSettings> = {}): Resolver {
  const settings = { pools, queryTimeoutMs: 3000, bootstrap: [], healthCheck: HEALTH_OFF, ...more };
  const made = new Resolver(settings, systemClock, new MemoryLogger());
  cleanups.push(() => made.close());
  return made;
}

/** Where identical questions to it share one run. */
function sharing(by: Resolver): QuestionTaker {
  return new SharedResolver(by, new NodeFlights(null, 3000, new MemoryLogger()), systemClock);
}

function resolve(by: QuestionTaker, asked: Question = WWW): Promise<Resolution> {
  return new Promise((done) => {
    by.resolve(asked, done);
  });
}

/** `upstream index: last octet of the answer`, or `reason rcode`. */
function summary(resolution: Resolution): string {
  if (resolution.kind === 'failed') return `${resolution.reason} ${String(resolution.rcode)}`;
  return `${String(resolution.upstream)}: ${String(resolution.answer.body.at(-1))}`;
}

describe('Resolver.resolve', () => {
  test('resolve() calls back once, never before it has returned', async () => {
    const server = await upstream(answers(1));
    for (const by of [resolver([pool('Failover', [settingsOf(server)])]), resolver([])]) {
      let returned = false;
      const early = new Promise<boolean>((done) => {
        by.resolve(WWW, () => done(!returned));
        returned = true;
      });
      expect(await early).toBe(false);
    }
  });

  test('resolve() asks identical questions once and tells everyone', async () => {
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

  test('resolve() asks over TCP what came truncated', async () => {
    const server = await upstream(fails(0x8380));
    server.tcpScript = answers(9);
    expect(summary(await resolve(resolver([pool('Parallel', [settingsOf(server)])])))).toBe('0: 9');
    expect([server.udpQueries.length, server.tcpQueries.length]).toEqual([1, 1]);
  });

  test('resolve() asks a tcp:// upstream over TCP only', async () => {
    const server = await upstream();
    server.tcpScript = answers(9);
    expect(summary(await resolve(resolver([pool('Parallel', [settingsOf(server, 'tcp')])])))).toBe('0: 9');
    expect(server.udpQueries).toHaveLength(0);
  });

  test('resolve() asks again without EDNS after FORMERR, and learns nothing from it (CVE-2026-52690)', async () => {
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

  test('resolve() repeats a datagram that was lost', async () => {
    const server = await upstream((query, index) => {
      if (index === 1) query.reply(good(query, 1));
    });
    const by = resolver([pool('Failover', [settingsOf(server)])], { queryTimeoutMs: 1000 });
    expect(summary(await resolve(by))).toBe('0: 1');
    expect(server.udpQueries[1]?.port).toBe(server.udpQueries[0]?.port);
  });

  test('resolve() fails what is beyond 16,384 questions, but not who asks one of them', async () => {
    const nobody = await upstream();
    const host: UpstreamSettings = {
      address: 'udp://dns.example',
      transport: 'udp',
      host: 'dns.example',
      port: 53,
    };
    const by = resolver([pool('Failover', [host])], { bootstrap: [`${nobody.ip}:${String(nobody.port)}`] });
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

  test('resolve() after close() fails', async () => {
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
  ])('resolve() ends with %s', async (_what, scripts, expected) => {
    const servers = await Promise.all(scripts.map((script) => upstream(script)));
    const by = resolver(
      [
        pool(
          'Parallel',
          servers.map((server) => settingsOf(server)),
        ),
      ],
      { queryTimeoutMs: 250 },
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
  ])('Parallel: %s never wins while another server may still answer', async (_what, script) => {
    const slow = await upstream();
    const quick = await upstream((query, index) => {
      script(query, index);
      // The other server answers only after this one has failed.
      setImmediate(() => {
        for (const held of slow.udpQueries) held.reply(good(held, 2));
        slow.udpScript = answers(2);
      });
    });
    const by = resolver([pool('Parallel', [settingsOf(quick), settingsOf(slow)])]);
    expect(summary(await resolve(by))).toBe('1: 2');
  });

  test('Parallel: asks every server, the first good answer wins and the others are heard out', async () => {
    const servers = [await upstream(silent), await upstream(answers(2)), await upstream(silent)];
    const by = resolver([
      pool(
        'Parallel',
        servers.map((server) => settingsOf(server)),
      ),
    ]);
    expect(summary(await resolve(by))).toBe('1: 2');
    await new Promise<void>((done) => {
      const late = servers[0]!;
      late.udpScript = answers(1);
      const check = (): void => {
        for (const held of late.udpQueries) held.reply(good(held, 1));
        if (by.report()[0]?.latenciesMs.length === 0) setImmediate(check);
        else done();
      };
      check();
    });
    expect(by.report()[0]).toMatchObject({ queries: 1, failures: 0, status: 'Healthy' });
  });

  test('Failover: asks the second only when the first fails', async () => {
    const first = await upstream(answers(1));
    const second = await upstream(answers(2));
    const by = resolver([pool('Failover', [settingsOf(first), settingsOf(second)])]);
    expect(summary(await resolve(by))).toBe('0: 1');
    expect(second.udpQueries).toHaveLength(0);
    first.udpScript = fails(SERVFAIL);
    expect(summary(await resolve(by))).toBe('1: 2');
  });

  test('Failover: goes on to the second when the first is silent, within the budget', async () => {
    const first = await upstream(silent);
    const second = await upstream(answers(2));
    const by = resolver([pool('Failover', [settingsOf(first), settingsOf(second)])], { queryTimeoutMs: 600 });
    expect(summary(await resolve(by))).toBe('1: 2');
    expect(first.udpQueries).toHaveLength(1);
  });

  test('Failover: takes the first server for its late answer after all', async () => {
    const first = await upstream(silent);
    const second = await upstream(() => {
      for (const held of first.udpQueries) held.reply(good(held, 1));
    });
    const by = resolver([pool('Failover', [settingsOf(first), settingsOf(second)])], { queryTimeoutMs: 900 });
    expect(summary(await resolve(by))).toBe('0: 1');
  });

  test('Balanced: spreads questions evenly', async () => {
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

  test('pools are asked in order of priority, the next when the one before fails', async () => {
    const backup = await upstream(answers(2));
    const main = await upstream(answers(1));
    const by = resolver([pool('Parallel', [settingsOf(backup)], 2), pool('Parallel', [settingsOf(main)], 1)]);
    expect(summary(await resolve(by))).toBe('1: 1');
    expect(backup.udpQueries).toHaveLength(0);
    main.udpScript = fails(REFUSED);
    expect(summary(await resolve(by))).toBe('0: 2');
    expect(by.upstreamAddress(0)).toBe(settingsOf(backup).address);
    expect(by.upstreamAddress(-1)).toBe('');
  });
});

describe('Resolver: health', () => {
  const HEALTH_ON = { ...HEALTH_OFF, enabled: true, failureThreshold: 2 };

  test('a server that fails where another answers is set aside, and tried again when nothing else is left', async () => {
    const bad = await upstream(fails(SERVFAIL));
    const well = await upstream(answers(2));
    const healthCheck = { ...HEALTH_ON, intervalSecs: 3600 };
    const by = resolver([pool('Failover', [settingsOf(bad), settingsOf(well)])], { healthCheck });
    const live = (): number => bad.udpQueries.filter(({ bytes }) => bytes[12] !== 0).length;
    for (let i = 0; i < 5; i++) expect(summary(await resolve(by))).toBe('1: 2');
    expect(by.report()[0]).toMatchObject({
      status: 'Unhealthy',
      lastError: 'SERVFAIL where another server answered',
    });
    const asked = live();
    expect(asked).toBeLessThan(5);
    bad.udpScript = answers(1);
    well.udpScript = fails(SERVFAIL);
    expect(summary(await resolve(by))).toBe('0: 1');
    expect(live()).toBe(asked + 1);
  });

  test('a broken domain makes no server unhealthy', async () => {
    const servers = [await upstream(fails(SERVFAIL)), await upstream(fails(SERVFAIL))];
    const healthCheck = { ...HEALTH_ON, intervalSecs: 3600 };
    for (const server of servers) {
      server.udpScript = (query, index) =>
        (query.bytes[12] === 0 ? answers(1) : fails(SERVFAIL))(query, index);
    }
    const by = resolver(
      [
        pool(
          'Parallel',
          servers.map((server) => settingsOf(server)),
        ),
      ],
      { healthCheck },
    );
    for (let i = 0; i < 10; i++) await resolve(by);
    expect(by.report()).toMatchObject([
      { queries: 10, failures: 10, consecutiveFailures: 0, lastError: 'SERVFAIL' },
      { queries: 10, failures: 10, consecutiveFailures: 0, lastError: 'SERVFAIL' },
    ]);
    expect(by.report().map(({ status }) => status)).not.toContain('Unhealthy');
  });

  const LOOP = [cname('www.example.org', 'b.example.org'), cname('b.example.org', 'www.example.org')];
  const SHORT_A = { ...a('www.example.org', '192.0.2.1'), rdata: new Uint8Array(3) };
  const MANY = Array.from({ length: MAX_RECORDS + 1 }, () => a(Uint8Array.of(0xc0, 12), '192.0.2.1'));
  test.each([
    ['udp', 'an endless CNAME chain', { answers: LOOP }, 'chain-too-long'],
    ['udp', 'malformed data, also over TCP', { answers: [SHORT_A] }, 'malformed-data'],
    ['tcp', 'malformed data', { answers: [SHORT_A] }, 'malformed-data'],
    ['tcp', 'more records than are taken', { answers: MANY }, 'too-many-records'],
    ['tcp', 'an answer that is truncated over TCP', { flags: 0x8380 }, 'truncated'],
  ] as const)('%s: %s makes no server unhealthy', async (transport, _what, parts, lastError) => {
    const script: Script = (query) => {
      const asked = questionOf(query.bytes);
      const isProbe = asked.qname.length === 1;
      query.reply(response(asked, isProbe ? { id: idOf(query.bytes) } : { id: idOf(query.bytes), ...parts }));
    };
    const server = await upstream(script);
    server.tcpScript = script;
    const healthCheck = { ...HEALTH_ON, intervalSecs: 3600 };
    const by = resolver([pool('Failover', [settingsOf(server, transport)])], { healthCheck });
    for (let i = 0; i < 5; i++) expect(summary(await resolve(by))).toBe('unusable 2');
    expect(by.report()).toMatchObject([{ failures: 5, consecutiveFailures: 0, lastError }]);
  });

  test('a question for which there was no room counts against no server and is not cached', async () => {
    const server = await upstream();
    const by = resolver([pool('Failover', [settingsOf(server, 'tcp')])], { queryTimeoutMs: 1500 });
    const network = 'greedy';
    const sent = Array.from({ length: 1024 }, (_, i) =>
      resolve(by, { ...question(`n${String(i)}.example`, 'A'), network }),
    );
    const queued = resolve(by, { ...WWW, network });
    expect(summary(await queued)).toBe('overloaded 2');
    await Promise.all(sent);
    // Those that were sent at once were met with silence.
    expect(by.report()).toMatchObject([{ queries: 1025, failures: 1024 }]);
  });

  test('a machine without descriptors or ports blames no server for it', async () => {
    const server = await upstream(answers(1));
    const script = join(import.meta.dirname, '..', '..', 'test', 'support', 'weir', 'few-descriptors.ts');
    const command = `ulimit -n 64; exec "$0" --disable-warning=ExperimentalWarning "$1" "$2"`;
    const child = spawn('sh', ['-c', command, process.execPath, script, String(server.port)]);
    child.stdout.setEncoding('utf8');
    let output = '';
    child.stdout.on('data', (text: string) => (output += text));
    await once(child, 'close');
    const { reasons, report } = JSON.parse(output) as { reasons: string[]; report: UpstreamReport };
    expect(new Set(reasons)).toEqual(new Set(['answer', 'overloaded']));
    expect(report).toMatchObject({
      failures: 0,
      consecutiveFailures: 0,
      lastError: 'EMFILE',
      status: 'Healthy',
    });
  });

  test('a question that takes too long does not count against a server that answers others meanwhile', async () => {
    const server = await upstream((query) => {
      if ((questionOf(query.bytes).qname[1]! | 0x20) !== 0x77) query.reply(good(query, 1));
    });
    const by = resolver([pool('Failover', [settingsOf(server)])], { queryTimeoutMs: 150 });
    const slow = resolve(by);
    await new Promise((done) => setTimeout(done, 5));
    await resolve(by, question('other.example.org', 'A'));
    expect(summary(await slow)).toBe('timeout 2');
    expect(by.report()).toMatchObject([{ failures: 1, consecutiveFailures: 0, lastError: 'timeout' }]);
  });

  test('a server set aside for its answers comes back by probes, long before the next interval', async () => {
    const bad = await upstream((query, index) => {
      (query.bytes[12] === 0 ? answers(1) : fails(SERVFAIL))(query, index);
    });
    const well = await upstream(answers(2));
    const healthCheck = { ...HEALTH_ON, intervalSecs: 3600 };
    const by = resolver([pool('Failover', [settingsOf(bad), settingsOf(well)])], { healthCheck });
    while (by.report()[0]?.status !== 'Unhealthy') await resolve(by);
    while (by.report()[0]?.status !== 'Healthy') await new Promise((done) => setTimeout(done, 20));
    expect(by.report()[0]?.consecutiveFailures).toBe(0);
  });

  test('probes set a dead server aside and notice its recovery, without counting as queries', async () => {
    const server = await upstream(silent);
    const healthCheck = { ...HEALTH_ON, intervalSecs: 0.02, timeoutMs: 20 };
    const by = resolver([pool('Failover', [settingsOf(server)])], { healthCheck });
    const until = (status: string): Promise<void> =>
      new Promise((done) => {
        const check = (): void => {
          if (by.report()[0]?.status === status) done();
          else setTimeout(check, 5);
        };
        check();
      });
    await until('Unhealthy');
    expect(by.report()[0]?.lastError).toBe('timeout');
    server.udpScript = answers(1);
    await until('Healthy');
    expect(by.report()[0]).toMatchObject({ queries: 0, failures: 0, consecutiveFailures: 0 });
  });
});

describe('Resolver: upstreams by name', () => {
  test('resolve() finds a host through the bootstrap servers, skipping those that fail', async () => {
    const bootstrap = await upstream((query) => {
      const record = a(Uint8Array.of(0xc0, 12), '127.0.0.1');
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: [record] }));
    });
    const broken = await upstream(fails(SERVFAIL));
    const server = await upstream(answers(5));
    const named = { ...settingsOf(server), host: 'dns.example' };
    const addresses = [broken, bootstrap].map(({ ip, port }) => `${ip}:${String(port)}`);
    const by = resolver([pool('Failover', [named])], { bootstrap: addresses });
    const both = await Promise.all([resolve(by), resolve(by, question('b.example.org', 'A'))]);
    expect(both.map(summary)).toEqual(['0: 5', '0: 5']);
    expect([broken.udpQueries.length, bootstrap.udpQueries.length]).toEqual([2, 2]);
  });

  test('resolve() fails, and says of which host, when no bootstrap server knows it', async () => {
    const bootstrap = await upstream(fails(0x8183));
    const named: UpstreamSettings = {
      address: 'udp://dns.example',
      transport: 'udp',
      host: 'dns.example',
      port: 53,
    };
    const by = resolver([pool('Failover', [named])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    expect(summary(await resolve(by))).toBe('network 2');
    expect(by.report()[0]?.lastError).toBe('no address for dns.example');
    expect(bootstrap.udpQueries.map(({ bytes }) => questionOf(bytes).qtype).sort()).toEqual([1, 28]);
  });

  test('resolve() tries every address of a host, and starts with the one that answered last', async () => {
    const server = await upstream(answers(5));
    const bootstrap = await upstream((query) => {
      const addresses = questionOf(query.bytes).qtype === 1 ? ['127.0.0.2', '127.0.0.3', '127.0.0.1'] : [];
      const records = addresses.map((ip) => a(Uint8Array.of(0xc0, 12), ip));
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: records }));
    });
    const named = { ...settingsOf(server), host: 'dns.example' };
    const by = resolver([pool('Failover', [named])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    expect(summary(await resolve(by))).toBe('0: 5');
    expect(summary(await resolve(by))).toBe('0: 5');
    expect(by.report()).toMatchObject([
      { failures: 0, resolved: ['127.0.0.2', '127.0.0.3', '127.0.0.1'], transport: 'udp' },
    ]);
  });

  test('resolve() asks the next address beside one that is silent', async () => {
    const server = await upstream(answers(5));
    const silentTwin = createSocket('udp4');
    silentTwin.bind(server.port, '127.0.0.2');
    await once(silentTwin, 'listening');
    const bootstrap = await upstream((query) => {
      const addresses = questionOf(query.bytes).qtype === 1 ? ['127.0.0.2', '127.0.0.1'] : [];
      const records = addresses.map((ip) => a(Uint8Array.of(0xc0, 12), ip));
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers: records }));
    });
    const named = { ...settingsOf(server), host: 'dns.example' };
    const by = resolver([pool('Failover', [named])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
      queryTimeoutMs: 1000,
    });
    expect(summary(await resolve(by))).toBe('0: 5');
    silentTwin.close();
  });

  test('resolve() uses a pinned address without a lookup', async () => {
    const bootstrap = await upstream();
    const server = await upstream(answers(6));
    const pinned = { ...settingsOf(server), host: 'dns.example', pinnedIp: '127.0.0.1' };
    const by = resolver([pool('Failover', [pinned])], {
      bootstrap: [`${bootstrap.ip}:${String(bootstrap.port)}`],
    });
    expect(summary(await resolve(by))).toBe('0: 6');
    expect(bootstrap.udpQueries).toHaveLength(0);
  });
});
