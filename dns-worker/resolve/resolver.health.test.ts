/** Health of servers, as a resolver learns it from answers and from probes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { UpstreamReport } from '../../shared/threads/messages.ts';
import { a, cname, idOf, question, questionOf, response } from '../../test/support/dns/built-messages.ts';
import type { Script } from '../../test/support/dns/scripted-upstream.ts';
import {
  HEALTH_OFF,
  SERVFAIL,
  WWW,
  answers,
  closeAll,
  fails,
  good,
  pool,
  resolve,
  resolver,
  settingsOf,
  silent,
  summary,
  upstream,
} from '../../test/support/dns/asked-resolver.ts';
import { until, within } from '../../test/support/parts/until.ts';

afterEach(closeAll);

describe('Resolver: health', () => {
  const HEALTH_ON = { ...HEALTH_OFF, enabled: true, failureThreshold: 2 };

  test('a server that fails while a second server answers is marked unhealthy, and used if no other server is left', async () => {
    const bad = await upstream(fails(SERVFAIL));
    const well = await upstream(answers(2));
    const healthCheck = { ...HEALTH_ON, intervalSecs: 3600 };
    const by = resolver([pool('Failover', [settingsOf(bad), settingsOf(well)])], { healthCheck });
    const live = (): number => bad.udpQueries.filter(({ bytes }) => bytes[12] !== 0).length;
    for (let i = 0; i < 5; i++) expect(summary(await resolve(by))).toBe('1: 2');
    expect(by.report()[0]).toMatchObject({
      status: 'Unhealthy',
      lastError: 'SERVFAIL although another server answered',
    });
    const asked = live();
    expect(asked).toBeLessThan(5);
    bad.udpScript = answers(1);
    well.udpScript = fails(SERVFAIL);
    expect(summary(await resolve(by))).toBe('0: 1');
    expect(live()).toBe(asked + 1);
  });

  test('a domain for which all servers fail makes no server unhealthy', async () => {
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
  test.each([
    ['udp', 'an endless CNAME chain', { answers: LOOP }, 'chain-too-long'],
    ['udp', 'malformed data, also over TCP', { answers: [SHORT_A] }, 'malformed-data'],
    ['tcp', 'malformed data', { answers: [SHORT_A] }, 'malformed-data'],
    ['tcp', 'an answer that is truncated over TCP', { flags: 0x8380 }, 'truncated'],
  ] as const)('over %s, %s does not make a server unhealthy', async (transport, _what, parts, lastError) => {
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

  test('a query that was not sent for lack of space counts against no server and is not cached', async () => {
    const server = await upstream();
    const by = resolver([pool('Failover', [settingsOf(server, 'tcp')])], { queryTimeoutMs: 1500 });
    const network = 'greedy';
    const sent = Array.from({ length: 1024 }, (_, i) =>
      resolve(by, { ...question(`n${String(i)}.example`, 'A'), network }),
    );
    const queued = resolve(by, { ...WWW, network });
    expect(summary(await queued)).toBe('overloaded 2');
    await Promise.all(sent);
    // The questions that were sent at the same time got no answer.
    expect(by.report()).toMatchObject([{ queries: 1025, failures: 1024 }]);
  });

  test('a lack of file descriptors or ports on this machine counts against no server', async () => {
    const server = await upstream(answers(1));
    const script = join(import.meta.dirname, '..', '..', 'test', 'support', 'weir', 'few-descriptors.ts');
    const command = `ulimit -n 64; exec "$0" --disable-warning=ExperimentalWarning "$1" "$2"`;
    const child = spawn('sh', ['-c', command, process.execPath, script, String(server.port)]);
    child.stdout.setEncoding('utf8');
    let output = '';
    child.stdout.on('data', (text: string) => (output += text));
    await within('the process with few descriptors to end', once(child, 'close'), { lastSeen: () => output });
    const { reasons, report } = JSON.parse(output) as { reasons: string[]; report: UpstreamReport };
    // Most questions are answered when they are repeated.
    expect(new Set([...reasons, 'overloaded'])).toEqual(new Set(['answer', 'overloaded']));
    expect(report).toMatchObject({
      failures: 0,
      consecutiveFailures: 0,
      // On a busy machine, the last of the 2,000 questions may time out.
      lastError: expect.stringMatching(/^(?:EMFILE|timeout)$/),
      status: 'Healthy',
    });
  });

  test('a query without an answer does not count against a server that answers other queries during that time', async () => {
    const server = await upstream((query) => {
      if ((questionOf(query.bytes).qname[1]! | 0x20) !== 0x77) query.reply(good(query, 1));
    });
    const by = resolver([pool('Failover', [settingsOf(server)])], { queryTimeoutMs: 1000 });
    const slow = resolve(by);
    await until(
      'the slow question',
      () => server.udpQueries.length,
      (count) => count === 1,
    );
    await resolve(by, question('other.example.org', 'A'));
    expect(summary(await slow)).toBe('timeout 2');
    expect(by.report()).toMatchObject([{ failures: 1, consecutiveFailures: 0, lastError: 'timeout' }]);
  });

  test('a server marked unhealthy for its answers recovers by probes, long before the next interval', async () => {
    const bad = await upstream((query, index) => {
      (query.bytes[12] === 0 ? answers(1) : fails(SERVFAIL))(query, index);
    });
    const well = await upstream(answers(2));
    const healthCheck = { ...HEALTH_ON, intervalSecs: 3600 };
    const by = resolver([pool('Failover', [settingsOf(bad), settingsOf(well)])], { healthCheck });
    const asked = async (): Promise<UpstreamReport[]> => {
      await resolve(by);
      return by.report();
    };
    await until('the server to be Unhealthy', asked, ([first]) => first?.status === 'Unhealthy');
    await until(
      'the server to be Healthy',
      () => by.report(),
      ([first]) => first?.status === 'Healthy',
    );
    expect(by.report()[0]?.consecutiveFailures).toBe(0);
  });

  test('probes mark a dead server unhealthy and notice its recovery, and are not counted as queries', async () => {
    const server = await upstream(silent);
    const healthCheck = { ...HEALTH_ON, intervalSecs: 0.02, timeoutMs: 20 };
    const by = resolver([pool('Failover', [settingsOf(server)])], { healthCheck });
    const untilReported = (status: string): Promise<UpstreamReport[]> =>
      until(
        `the server to be ${status}`,
        () => by.report(),
        ([first]) => first?.status === status && (status === 'Unhealthy' || first.consecutiveFailures === 0),
      );
    await untilReported('Unhealthy');
    expect(by.report()[0]?.lastError).toBe('timeout');
    server.udpScript = answers(1);
    const [recovered] = await untilReported('Healthy');
    expect(recovered).toMatchObject({ queries: 0, failures: 0, consecutiveFailures: 0 });
  });
});
