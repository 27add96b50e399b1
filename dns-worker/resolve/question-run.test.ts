import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { idOf, question, questionOf, response } from '../../test/support/dns/built-messages.ts';
import { answers, fails, upstreamOf } from '../../test/support/dns/scripted-server.ts';
import { type Script, ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { QuestionRun } from './question-run.ts';
import type { Resolution } from './resolution.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';
import { WakeGroups } from './wake-groups.ts';

const WWW = question('www.example.org', 'A');
const silent: Script = () => undefined;
const noop = (): void => undefined;

let servers: ScriptedUpstream[];
let upstreams: Upstream[];
beforeEach(() => {
  servers = [];
  upstreams = [];
});
afterEach(async () => {
  for (const upstream of upstreams) upstream.close();
  for (const server of servers) await server.close();
});

/** Waves of servers with these scripts, numbered in order. */
async function wavesOf(...scripts: Script[][]): Promise<Upstream[][]> {
  const waves: Upstream[][] = [];
  for (const wave of scripts) {
    const made: Upstream[] = [];
    for (const script of wave) {
      const server = await ScriptedUpstream.start();
      server.udpScript = script;
      servers.push(server);
      made.push(upstreamOf(server, { index: upstreams.length }));
      upstreams.push(made.at(-1)!);
    }
    waves.push(made);
  }
  return waves;
}

/** Runs a question to its end. */
async function run(timeoutMs: number, ...scripts: Script[][]): Promise<Resolution> {
  const waves = await wavesOf(...scripts);
  const ended = new Promise<Resolution>((done) => {
    new QuestionRun(WWW, waves, { clock: systemClock, timeoutMs }, done).start();
  });
  return within('the question to end', ended);
}

describe('QuestionRun, a query sent to waves of servers,', () => {
  test('returns the first good answer of a wave', async () => {
    expect(await run(60_000, [silent, answers(2)])).toMatchObject({ kind: 'answer', upstream: 1 });
  });

  test('queries the next wave when all servers of the first wave have failed, not before', async () => {
    const resolution = await run(
      60_000,
      [fails(Rcode.SERVFAIL), fails(Rcode.REFUSED)],
      [answers(3)],
      [answers(4)],
    );
    expect(resolution).toMatchObject({ kind: 'answer', upstream: 2 });
    expect(servers[3]!.udpQueries).toEqual([]);
  });

  test('counts a failure as a fault of a server if another server answered', async () => {
    await run(60_000, [fails(Rcode.SERVFAIL)], [answers(2)]);
    expect(upstreams.map(({ health }) => health.lastError)).toEqual([
      'SERVFAIL although another server answered',
      null,
    ]);
    expect(upstreams[0]!.health.consecutiveFailures).toBe(1);
  });

  test('queries the next wave in parallel with a silent first wave, whose late answer is still used', async () => {
    let late: (() => void) | undefined;
    const first: Script = (query) => {
      late ??= () => answers(1)(query, 0);
    };
    const second: Script = () => late?.();
    expect(await run(60_000, [first], [second])).toMatchObject({ kind: 'answer', upstream: 0 });
    expect(upstreams[0]!.health.isSuspect).toBe(false);
  });

  test('sends the query again when every server has been queried', async () => {
    const second: Script = (query, index) => {
      if (index > 0) answers(1)(query, index);
    };
    expect(await run(60_000, [second])).toMatchObject({ kind: 'answer', upstream: 0 });
  });

  test('sends the query 64 times at most, for any number of servers and any time of silence', async () => {
    const [[server]] = (await wavesOf([silent])) as [[Upstream]];
    let sent = 0;
    const attempt = {
      upstream: server,
      resend: () => sent++,
      noteSilence: noop,
      cancel: noop,
      expire: noop,
      isOver: true,
    };
    server.ask = () => {
      sent++;
      return attempt as unknown as UpstreamAttempt;
    };
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    jest.useFakeTimers();
    const waves = [Array<Upstream>(40).fill(server), Array<Upstream>(40).fill(server)];
    const done = jest.fn();
    new QuestionRun(WWW, waves, { clock, timeoutMs: 60_000 }, done).start();
    expect(sent).toBe(40);
    for (; nowMs < 60_000; nowMs += 1000) jest.advanceTimersByTime(1000);
    jest.advanceTimersByTime(1000);
    jest.useRealTimers();
    expect(sent).toBe(64);
    expect(done).toHaveBeenCalledTimes(1);
  });

  test('wakes the timers of concurrent queries together', () => {
    const attempt = {
      wasQueued: false,
      resend: noop,
      noteSilence: noop,
      cancel: noop,
      expire: noop,
      isOver: true,
    };
    const server = {
      health: { usualLatencyMs: 20 },
      ask: () => attempt as unknown as UpstreamAttempt,
    } as unknown as Upstream;
    const clock = { nowMs: () => 0, monotonicMs: () => 0 };
    const timing = { clock, timeoutMs: 3000, wakes: new WakeGroups(clock) };
    jest.useFakeTimers();
    for (let i = 0; i < 1000; i++) new QuestionRun(WWW, [[server]], timing, noop).start();
    const timers = jest.getTimerCount();
    jest.useRealTimers();
    // The questions are sent again within 200 to 600 ms.
    expect(timers).toBeLessThanOrEqual(41);
  });

  test('ends as a timeout if no server answers, and reports the last queried server', async () => {
    expect(await run(50, [silent, silent])).toEqual({
      kind: 'failed',
      reason: 'timeout',
      rcode: Rcode.SERVFAIL,
      upstream: 1,
    });
    expect(upstreams.map(({ health }) => health.lastError)).toEqual(['timeout', 'timeout']);
  });

  test('returns the failure response of one server rather than the timeout of another server', async () => {
    expect(await run(300, [fails(Rcode.REFUSED), silent])).toEqual({
      kind: 'failed',
      reason: 'refused',
      rcode: Rcode.REFUSED,
      upstream: 0,
    });
    expect(upstreams[0]!.health.consecutiveFailures).toBe(0);
  });

  test('returns an unreadable response as failure "unusable"', async () => {
    const truncated: Script = (query) =>
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags: 0x8380 }));
    const waves = await wavesOf([truncated]);
    servers[0]!.tcpScript = truncated;
    const ended = new Promise<Resolution>((done) => {
      new QuestionRun(WWW, waves, { clock: systemClock, timeoutMs: 60_000 }, done).start();
    });
    const resolution = await within('the question to end', ended);
    expect(resolution).toEqual({ kind: 'failed', reason: 'unusable', rcode: Rcode.SERVFAIL, upstream: 0 });
  });

  test('cancel() ends the query once, and a later answer is ignored', async () => {
    const waves = await wavesOf([silent]);
    const ended: Resolution[] = [];
    const question = new QuestionRun(WWW, waves, { clock: systemClock, timeoutMs: 60_000 }, (it) =>
      ended.push(it),
    );
    question.start();
    await until(
      'the question to be sent',
      () => servers[0]!.udpQueries.length,
      (count) => count > 0,
    );
    question.cancel();
    question.cancel();
    expect(ended).toEqual([{ kind: 'failed', reason: 'network', rcode: Rcode.SERVFAIL, upstream: -1 }]);
  });

  test('start() throws the error of an upstream, and does not call back', async () => {
    const waves = await wavesOf([silent]);
    const ended: Resolution[] = [];
    waves[0]![0]!.ask = () => {
      throw new Error('out of memory');
    };
    const question = new QuestionRun(WWW, waves, { clock: systemClock, timeoutMs: 60_000 }, (it) =>
      ended.push(it),
    );
    expect(() => question.start()).toThrow('out of memory');
    question.cancel();
    expect(ended).toEqual([]);
  });
});
