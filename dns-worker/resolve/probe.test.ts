import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { RRType, Rcode } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { questionOf, wireName } from '../../test/support/dns/built-messages.ts';
import { answers, fails, upstreamOf } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { Probe, ROOT_SERVERS, zoneProbe } from './probe.ts';
import type { Upstream } from './upstream.ts';

const SETTINGS = {
  enabled: true,
  intervalSecs: 0.01,
  timeoutMs: 60_000,
  failureThreshold: 1,
  successThreshold: 1,
};

let server: ScriptedUpstream;
let upstream: Upstream;
let upstreams: Upstream[];
let probes: Probe[];
beforeEach(async () => {
  server = await ScriptedUpstream.start();
  upstreams = [];
  probes = [];
  upstream = openUpstream();
});
afterEach(async () => {
  for (const probe of probes) probe.close();
  for (const opened of upstreams) opened.close();
  await server.close();
});

function openUpstream(clock: Clock = systemClock, at = server): Upstream {
  const opened = upstreamOf(at, { clock });
  upstreams.push(opened);
  return opened;
}

function start(
  settings: Partial<typeof SETTINGS> = {},
  question = ROOT_SERVERS,
  probed = upstream,
  clock: Clock = systemClock,
): void {
  probes.push(new Probe(probed, question, { ...SETTINGS, ...settings }, clock));
}

/** Resolves when another server has been probed a few times, so that this server would also have been probed. */
async function probesElsewhere(): Promise<void> {
  await using other = await ScriptedUpstream.start();
  other.udpScript = fails(Rcode.SERVFAIL);
  start({}, ROOT_SERVERS, openUpstream(systemClock, other));
  await until(
    'probes of another server',
    () => other.udpQueries.length,
    (count) => count > 5,
  );
  probes.at(-1)!.close();
}

describe('ROOT_SERVERS and zoneProbe()', () => {
  test('query a record that exists on every resolver, or a record that exists in the zone', () => {
    expect(ROOT_SERVERS).toMatchObject({ qname: Uint8Array.of(0), qtype: RRType.NS, dnssecOk: false });
    expect(zoneProbe(wireName('corp.test'))).toMatchObject({
      qname: wireName('corp.test'),
      qtype: RRType.SOA,
    });
  });
});

describe('Probe of an upstream server', () => {
  test('repeats its query, and does not count it as a client query', async () => {
    server.udpScript = fails(Rcode.SERVFAIL);
    start({}, zoneProbe(wireName('corp.test')));
    await until(
      'the third probe',
      () => server.udpQueries.length,
      (count) => count > 2,
    );
    const { qname, qtype } = questionOf(server.udpQueries[0]!.bytes);
    expect([nameToText(qname).toLowerCase(), qtype]).toEqual(['corp.test', RRType.SOA]);
    expect(upstream.health.queries).toBe(0);
  });

  test.each([
    ['NOERROR', 'Healthy', Rcode.NOERROR],
    ['REFUSED, as from an authoritative server', 'Healthy', Rcode.REFUSED],
    ['SERVFAIL, as from one that cannot reach the root', 'Unhealthy', Rcode.SERVFAIL],
  ])('gives a server that answers %s the status %s', async (_, status, rcode) => {
    server.udpScript = fails(rcode);
    start();
    await until(
      `the server to be ${status}`,
      () => upstream.health.status,
      (now) => now === status,
    );
  });

  test('marks a silent server unhealthy, and marks the server healthy once it answers again', async () => {
    start({ timeoutMs: 30 });
    await until(
      'the server to be Unhealthy',
      () => upstream.health.status,
      (now) => now === 'Unhealthy',
    );
    expect(upstream.health.lastError).toBe('timeout');
    server.udpScript = answers(1);
    await until(
      'the server to be Healthy',
      () => upstream.health.status,
      (now) => now === 'Healthy',
    );
  });

  test('does not probe a server that has just answered a client query', async () => {
    server.udpScript = answers(1);
    const clock = new TestClock();
    const well = openUpstream(clock);
    await within('the answer', new Promise((done) => void well.ask(ROOT_SERVERS, done)));
    const asked = server.udpQueries.length;
    start({}, ROOT_SERVERS, well, clock);
    await probesElsewhere();
    expect(server.udpQueries).toHaveLength(asked);
  });

  test('is sent soon after the server is marked unhealthy, even with a long interval', async () => {
    server.udpScript = answers(1);
    start({ intervalSecs: 300 });
    await until(
      'the server to be Healthy',
      () => upstream.health.status,
      (now) => now === 'Healthy',
    );
    upstream.health.recordFault('SERVFAIL although another server answered');
    await until(
      'the second probe',
      () => server.udpQueries.length,
      (count) => count > 1,
    );
  });

  test('is repeated soon after a failure until the threshold is reached, even with a long interval', async () => {
    server.udpScript = fails(Rcode.SERVFAIL);
    const failing = upstreamOf(server, {
      thresholds: { enabled: true, failureThreshold: 2, successThreshold: 1 },
    });
    upstreams.push(failing);
    start({ intervalSecs: 300 }, ROOT_SERVERS, failing);
    await until(
      'the server to be Unhealthy',
      () => failing.health.status,
      (now) => now === 'Unhealthy',
    );
    expect(failing.health.consecutiveFailures).toBe(2);
  });

  test('sends no query after close()', async () => {
    start();
    probes[0]!.close();
    upstream.onUnhealthy!();
    await probesElsewhere();
    expect(server.udpQueries).toEqual([]);
  });
});
