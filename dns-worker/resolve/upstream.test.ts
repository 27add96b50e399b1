import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { a, idOf, question, questionOf, response } from '../../test/support/dns/built-messages.ts';
import { answers, fails, upstreamOf, type UpstreamOptions } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { until, within } from '../../test/support/parts/until.ts';
import type { AttemptOutcome } from './transport/attempt.ts';
import { Bootstrap } from './bootstrap/bootstrap.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';

const WWW = question('www.example.org', 'A');

let server: ScriptedUpstream;
let opened: Upstream[];
beforeEach(async () => {
  server = await ScriptedUpstream.start();
  server.udpScript = answers(1);
  opened = [];
});
afterEach(async () => {
  for (const upstream of opened) upstream.close();
  await server.close();
});

function open(options: UpstreamOptions = {}, at = server): Upstream {
  const upstream = upstreamOf(at, options);
  opened.push(upstream);
  return upstream;
}

function ask(upstream: Upstream): Promise<AttemptOutcome> {
  return within(
    'the outcome',
    new Promise((resolve) => void upstream.ask(WWW, (_, outcome) => resolve(outcome))),
  );
}

describe('Upstream.ask(), a client query to an upstream server,', () => {
  test('counts a client query, and reports the state of the server', async () => {
    const upstream = open();
    expect(await ask(upstream)).toMatchObject({ kind: 'answer', answer: { rcode: Rcode.NOERROR } });
    expect(upstream.report()).toMatchObject({
      address: `udp://127.0.0.1:${String(server.port)}`,
      poolName: 'pool',
      status: 'Healthy',
      queries: 1,
      failures: 0,
      resolved: ['127.0.0.1'],
    });
    expect(upstream.report().latenciesMs).toHaveLength(1);
  });

  test('logs once that a server is unhealthy, and once that it answers again', async () => {
    const logger = new MemoryLogger();
    const upstream = open({ logger, settings: { transport: 'tcp' } });
    let reported = 0;
    upstream.onUnhealthy = () => reported++;
    server.onConnection = (connection) => connection.destroy();
    await ask(upstream);
    await ask(upstream);
    server.onConnection = () => undefined;
    server.tcpScript = answers(1);
    await ask(upstream);
    expect(reported).toBe(1);
    expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'upstream marked unhealthy'],
      ['info', 'upstream marked healthy'],
    ]);
  });

  test('fails, and reports the host name, if no address is known', async () => {
    const upstream = open({ settings: { host: 'dns.example.org' } });
    expect(await ask(upstream)).toEqual({ kind: 'failed', reason: 'network' });
    expect(upstream.health.lastError).toBe('no address for dns.example.org');
  });

  test('connects to the configured address without a lookup', async () => {
    const upstream = open({ settings: { host: 'dns.example.org', pinnedIp: '127.0.0.1' } });
    expect(await ask(upstream)).toMatchObject({ kind: 'answer' });
  });

  test('uses the next address of a host if an address fails, and from then on starts with the working address', async () => {
    await using names = await ScriptedUpstream.start();
    names.udpScript = (query) => {
      const asked = questionOf(query.bytes);
      const records = asked.qtype === 1 ? ['127.0.0.9', '127.0.0.1'].map((ip) => a('dns.test', ip)) : [];
      query.reply(response(asked, { id: idOf(query.bytes), answers: records }));
    };
    const clock = new TestClock();
    const bootstrap = new Bootstrap([`${names.ip}:${String(names.port)}`], clock);
    server.tcpScript = answers(2);
    const upstream = open({ bootstrap, settings: { transport: 'tcp', host: 'dns.test' } });
    expect(await ask(upstream)).toMatchObject({ kind: 'answer' });
    expect(await ask(upstream)).toMatchObject({ kind: 'answer' });
    expect(upstream.report()).toMatchObject({ resolved: ['127.0.0.9', '127.0.0.1'], failures: 0 });
  });
});

describe('Upstream.probe(), a health check,', () => {
  test('is not counted among the client queries', async () => {
    server.udpScript = fails(Rcode.SERVFAIL);
    const upstream = open();
    const probed = new Promise<AttemptOutcome>(
      (resolve) => void upstream.probe(WWW, (_, ended) => resolve(ended)),
    );
    const outcome = await within('the outcome', probed);
    expect(outcome).toMatchObject({ kind: 'answer', answer: { rcode: Rcode.SERVFAIL } });
    expect(upstream.report()).toMatchObject({ queries: 0, failures: 0 });
  });
});

describe('Upstream.linger(), for attempts whose client already has an answer,', () => {
  function start(upstream: Upstream): UpstreamAttempt {
    return upstream.ask(WWW, () => undefined);
  }

  test('lets an attempt continue, to measure the latency of the server', async () => {
    const upstream = open();
    const attempt = start(upstream);
    upstream.linger(attempt, 60_000);
    await until('the attempt to end', () => attempt.isOver);
    expect(upstream.health.status).toBe('Healthy');
  });

  test('cancels an attempt after its time limit', async () => {
    server.udpScript = () => undefined;
    const upstream = open();
    const attempt = start(upstream);
    upstream.linger(attempt, 1);
    await until('the attempt to end', () => attempt.isOver);
    expect(upstream.health.lastError).toBe('timeout');
  });

  test('lets 16 attempts continue, and cancels the rest', () => {
    server.udpScript = () => undefined;
    const upstream = open();
    const attempts = Array.from({ length: 17 }, () => start(upstream));
    for (const attempt of attempts) upstream.linger(attempt, 60_000);
    expect(attempts.filter(({ isOver }) => isOver)).toEqual([attempts[16]]);
    upstream.close();
    expect(attempts.every(({ isOver }) => isOver)).toBe(true);
  });
});
