/**
 * Schedules and the switch of all blocking over real sockets: the start of a slot at a real minute, and the remaining
 * time of a pause after a restart.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Blocking } from '../../../shared/api/policy/blocking-api.ts';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { ExtendedError } from '../../../shared/dns/iana.ts';
import { timeOfDay } from '../../../shared/policy/time-of-day.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until, WAIT_MS } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const MINUTE_MS = 60_000;
/** Duration of a timer: longer than a test, shorter than the TTL of an answer. */
const TIMER_SECS = 1800;
const DAY = 1440;
const BLOCKED = '0.0.0.0';
/** A name in no list, and a name that a rule of the tests blocks. */
const PLAIN = 'plain.example.org';
const RULED = 'ruled.example.org';

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream.close());

/** Gives the group Default a profile with one slot; returns the profile's id. */
async function schedule(api: ApiClient, start: number, end: number, action: string): Promise<number> {
  const { id } = await api.expect<{ id: number }>(201, 'POST', '/schedule-profiles', {
    name: `${action} ${String(start)}`,
    timezone: 'UTC',
  });
  await api.expect(201, 'POST', `/schedule-profiles/${String(id)}/slots`, {
    days: 127,
    start_time: timeOfDay(start),
    end_time: timeOfDay(end),
    action,
  });
  await api.expect(200, 'PUT', '/groups/1/schedule', { profile_id: id });
  return id;
}

describe('weir with schedules', () => {
  let weir: Weir;
  let udp: UdpClient;
  let api: ApiClient;
  beforeAll(async () => {
    weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    udp = await UdpClient.open(weir.dnsPort);
    api = await weir.api();
    await api.expect(201, 'POST', '/managed-domains', { domain: RULED });
    await api.expect(201, 'POST', '/services', { service_id: 'netflix', group_id: 1 });
  });
  afterAll(async () => {
    udp.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  const answerTo = async (name: string): Promise<unknown> => (await udp.ask(name, 'A')).data[0];

  test('blocks everything, or nothing, exactly while a schedule of the group is active', async () => {
    expect([await answerTo(PLAIN), await answerTo(RULED)]).toEqual([EVERY_ADDRESS, BLOCKED]);
    const blocking = await schedule(api, 0, DAY, 'block_all');
    const reply = await udp.ask(PLAIN, 'A', { edns: {} });
    expect([reply.data, reply.extendedErrors]).toEqual([[BLOCKED], [ExtendedError.FILTERED]]);
    expect((await askOverTcp(weir.dnsPort, 'never-asked.example.org', 'A')).data).toEqual([BLOCKED]);
    const profile = {
      judged: PLAIN,
      rule: 'block_all',
      origin: 'schedule',
      source: 'block_all 0',
      sources: ['block_all 0'],
      line: null,
    };
    expect(
      await api.expect<ExplainAnswer>(200, 'GET', `/explain?domain=${PLAIN}&client=127.0.0.1`),
    ).toMatchObject({
      status: 'BLOCKED_SCHEDULE',
      decided_by: profile,
      stages: expect.arrayContaining([
        { stage: 'schedule_override', verdict: 'answered', rules: [profile], detail: 'BlockAll' },
      ]) as unknown,
    });
    expect(await api.untilQueryCount(2, 'status=BLOCKED_SCHEDULE')).toBe(2);
    const blockedBy = { block_source: 'block_all 0', block_rule: 'block_all' };
    expect(await api.queries('status=BLOCKED_SCHEDULE')).toMatchObject([blockedBy, blockedBy]);

    await schedule(api, 0, DAY, 'allow_all');
    for (const name of [PLAIN, RULED, 'www.netflix.com']) expect(await answerTo(name)).toBe(EVERY_ADDRESS);
    await api.expect(204, 'DELETE', '/groups/1/schedule');
    expect([await answerTo(PLAIN), await answerTo(RULED)]).toEqual([EVERY_ADDRESS, BLOCKED]);
    expect(await answerTo('www.netflix.com')).toBeUndefined();

    await api.expect(200, 'PUT', '/groups/1/schedule', { profile_id: blocking });
    expect(await answerTo(PLAIN)).toBe(BLOCKED);
    await api.expect(200, 'POST', '/blocking', { enabled: false });
    expect([await answerTo(PLAIN), await answerTo(RULED)]).toEqual([EVERY_ADDRESS, EVERY_ADDRESS]);
    await api.expect(200, 'POST', '/blocking', { enabled: true });
    expect(await answerTo(PLAIN)).toBe(BLOCKED);
    await api.expect(204, 'DELETE', `/schedule-profiles/${String(blocking)}`);
    expect(await answerTo(PLAIN)).toBe(EVERY_ADDRESS);
  });

  test('blocks a service with a schedule only at the times of the schedule', async () => {
    const service = '/services/netflix/groups/1';
    const body = { name: 'times', timezone: 'UTC' };
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/schedule-profiles', body);
    await api.expect(200, 'PUT', service, { profile_id: id });
    expect(await answerTo('www.netflix.com')).toBe(EVERY_ADDRESS);
    const slot = { days: 127, start_time: '00:00', end_time: '24:00', action: 'block_all' };
    await api.expect(201, 'POST', `/schedule-profiles/${String(id)}/slots`, slot);
    expect([await answerTo('www.netflix.com'), await answerTo(PLAIN)]).toEqual([undefined, EVERY_ADDRESS]);
    await api.expect(200, 'PUT', service, { profile_id: null });
    await api.expect(204, 'DELETE', `/schedule-profiles/${String(id)}`);
    expect(await answerTo('www.netflix.com')).toBeUndefined();
  });

  test('resumes blocking when the timer of a pause expires', async () => {
    const pause = (secs: number): Promise<Blocking> =>
      api.expect(200, 'POST', '/blocking', { enabled: false, timer_secs: secs });
    const { enabled, timer_secs: left } = await pause(TIMER_SECS);
    expect(enabled).toBe(false);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(TIMER_SECS);
    expect(await answerTo(RULED)).toBe(EVERY_ADDRESS);
    expect((await udp.ask(PLAIN, 'A')).answers[0]!.ttl).toBeLessThan(TIMER_SECS);
    const sentMs = Date.now();
    await pause(1);
    await until(
      'the end of the timer',
      () => answerTo(RULED),
      (address) => address === BLOCKED,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(sentMs + 1000);
    expect(await api.expect<Blocking>(200, 'GET', '/blocking')).toEqual({
      enabled: true,
      timer_secs: null,
      source: 'switch',
      this_node_only: false,
    });
  });

  /** Schedules a slot that blocks everything from the next minute on (at least 3 s ahead), and waits for its start. */
  async function startSlot(): Promise<void> {
    const flipMs = Math.ceil((Date.now() + 3000) / MINUTE_MS) * MINUTE_MS;
    const start = (flipMs / MINUTE_MS) % DAY;
    await answerTo(PLAIN);
    await schedule(api, start, (start + 60) % DAY, 'block_all');
    let asked = 0;
    await until(
      `everything to be blocked from ${new Date(flipMs).toISOString()} on`,
      async () => {
        // Names that are answered from the cache, by the upstream, and by a rule.
        const names = [PLAIN, `fresh-${String(asked++)}.example.org`, RULED];
        const askedMs = Date.now();
        const replies = await Promise.all(names.map((name) => udp.ask(name, 'A')));
        const answeredMs = Date.now();
        const isBlocked = replies[0]!.data[0] === BLOCKED;
        if (isBlocked) expect(answeredMs).toBeGreaterThanOrEqual(flipMs);
        else if (answeredMs < flipMs)
          for (const reply of replies)
            expect(askedMs + reply.answers[0]!.ttl * 1000).toBeLessThanOrEqual(flipMs);
        return { isBlocked, at: new Date(answeredMs).toISOString() };
      },
      ({ isBlocked }) => isBlocked,
      { pauseMs: 100, withinMs: MINUTE_MS + WAIT_MS },
    );
  }

  describe('with a schedule slot that is about to start', () => {
    const tempDir = makeTempDir();
    let started: Promise<void>;
    beforeAll(async () => {
      started = startSlot();
      started.catch(() => undefined); // The last test reports a failure.
      await prepareDataDir(tempDir.dataDir);
    });
    afterAll(() => tempDir.remove());

    const upstreams = (): string[] => [`127.0.0.1:${String(upstream.port)}`];

    // Runs while the minute passes, with a separate Weir server.
    test('keeps schedules and the remaining time of a pause over a restart, even without its database', async () => {
      {
        await using weir = await Weir.start({ tempDir, upstreams: upstreams() });
        const api = await weir.api();
        await api.expect(201, 'POST', '/managed-domains', { domain: RULED });
        await schedule(api, 0, DAY, 'block_all');
        await api.expect(200, 'POST', '/blocking', { enabled: false, timer_secs: 300 });
        expect(await weir.stop()).toMatchObject({ code: 0 });
      }
      {
        await using weir = await Weir.start({
          tempDir,
          upstreams: upstreams(),
          database: 'none',
        });
        using udp = await UdpClient.open(weir.dnsPort);
        expect((await udp.ask(RULED, 'A')).data).toEqual([EVERY_ADDRESS]);
        expect(await weir.stop()).toMatchObject({ code: 0 });
      }
      await using weir = await Weir.start({ tempDir, upstreams: upstreams() });
      using udp = await UdpClient.open(weir.dnsPort);
      expect((await udp.ask(RULED, 'A')).data).toEqual([EVERY_ADDRESS]);
      const api = await weir.api();
      const rest = await api.expect<Blocking>(200, 'GET', '/blocking');
      expect(rest.enabled).toBe(false);
      expect(rest.timer_secs).toBeGreaterThan(0);
      expect(rest.timer_secs).toBeLessThan(300);
      await api.expect(200, 'POST', '/blocking', { enabled: true });
      expect((await udp.ask(PLAIN, 'A')).data).toEqual([BLOCKED]);
      expect(await weir.stop()).toMatchObject({ code: 0 });
    });

    test('starts a schedule slot on its minute, and cached answers expire at that minute', async () => {
      await started;
      expect(await answerTo('another.example.org')).toBe(BLOCKED);
      await api.expect(204, 'DELETE', '/groups/1/schedule');
      expect(await answerTo(PLAIN)).toBe(EVERY_ADDRESS);
    });
  });
});
