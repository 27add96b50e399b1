import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../../shared/clock.ts';
import { createCapabilityTable } from '../../../shared/memory/capability-table.ts';
import { question } from '../../../test/support/dns/built-messages.ts';
import {
  baking,
  cookieOf,
  droppingCookies,
  FLAGS,
  foldingCase,
  isMixed,
  nameIn,
  refusingCase,
  treatTcp,
} from '../../../test/support/dns/odd-upstreams.ts';
import {
  type ReceivedQuery,
  type Script,
  ScriptedUpstream,
} from '../../../test/support/dns/scripted-upstream.ts';
import { until } from '../../../test/support/parts/until.ts';
import { Capabilities } from '../capability/capabilities.ts';
import type { CapabilityRecord } from '../capability/capability-record.ts';
import { Hardening } from '../capability/hardening.ts';
import { UdpUpstream } from './udp-upstream.ts';

const PROBE = question('a-public-name.example.com', 'A');
const AUTO = { cookies: 'auto', caseRandomization: 'auto' } as const;

let upstream: ScriptedUpstream;
let memory: SharedArrayBuffer;
let record: CapabilityRecord;
let offsetMs: number;
const clock: Clock = {
  nowMs: () => 0,
  monotonicMs: () => performance.now() + offsetMs,
};
const opened: UdpUpstream[] = [];

/** The upstream in one thread; all threads share their findings. */
function thread(): UdpUpstream {
  const server = { ip: upstream.ip, port: upstream.port, family: 4 } as const;
  const hardening = new Hardening(new Capabilities(clock, memory).of(server, 'udp'), AUTO, true);
  const made = new UdpUpstream(server, { hardening, probe: PROBE, clock });
  opened.push(made);
  return made;
}

function ask(by: UdpUpstream): void {
  by.ask(question('asked.example.org', 'A'), () => undefined);
}

const probes = () =>
  upstream.udpQueries.filter((query) => nameIn(query).toLowerCase().includes('a-public-name'));
const untilFound = (feature: 'case' | 'cookies' | 'tcp') =>
  until(
    `a finding about ${feature}`,
    () => record.finding(feature),
    (finding) => finding !== 'unknown',
  );

beforeEach(async () => {
  offsetMs = 0;
  upstream = await ScriptedUpstream.start();
  treatTcp(upstream, 'works');
  memory = createCapabilityTable();
  record = new Capabilities(clock, memory).of({ ip: upstream.ip, port: upstream.port }, 'udp');
});
afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await upstream.close();
});

describe('CapabilityProber, which tests features of an upstream,', () => {
  test('enables mixed case after three pairs of probes, then cookies, once for all threads', async () => {
    upstream.udpScript = baking;
    const [one, other] = [thread(), thread()];
    ask(one);
    ask(other);
    expect(await untilFound('tcp')).toBe('supported');
    expect([record.finding('case'), record.finding('cookies')]).toEqual(['supported', 'supported']);
    const mixed = probes().filter((query) => cookieOf(query).length === 0);
    expect(mixed).toHaveLength(6);
    expect(mixed.every(isMixed)).toBe(true);
    const names = mixed.map((query) => nameIn(query).toLowerCase());
    expect(names.filter((name) => name.startsWith('\ra-public-name'))).toHaveLength(3);
    expect(new Set(names).size).toBe(4);
    // The first probe fetches the server's cookie.
    expect(
      probes()
        .map((query) => cookieOf(query).length)
        .filter(Boolean),
    ).toEqual([8, ...Array<number>(6).fill(16)]);
  });

  test('enables nothing for a server that lower-cases names or rejects mixed case', async () => {
    upstream.udpScript = foldingCase;
    ask(thread());
    expect(await untilFound('case')).toBe('altered');
    expect(await untilFound('cookies')).toBe('unsupported');
  });

  test('does not accept NXDOMAIN for an existing name as a successful probe', async () => {
    upstream.udpScript = refusingCase(FLAGS.nxdomain);
    ask(thread());
    expect(await untilFound('case')).toBe('refused');
  });

  test("does not enable cookies if the query with the server's cookie gets no answer", async () => {
    const dropping = droppingCookies(16);
    upstream.udpScript = (query, index) => (cookieOf(query).length === 8 ? baking : dropping)(query, index);
    ask(thread());
    expect(await untilFound('cookies')).toBe('silent');
  });

  test('repeats the probes before their result expires', async () => {
    upstream.udpScript = baking;
    const one = thread();
    ask(one);
    await untilFound('tcp');
    const before = probes().length;
    offsetMs += 2_700_000;
    expect(record.finding('case')).toBe('supported');
    ask(one);
    await until(
      'all probes again',
      () => probes().length,
      (count) => count === 2 * before,
    );
    offsetMs += 2_700_000;
    expect(record.finding('case')).toBe('supported');
    offsetMs += 900_001;
    expect(record.finding('case')).toBe('unknown');
  });

  test('keeps a feature enabled if both probes of a pair get no answer', async () => {
    upstream.udpScript = baking;
    const one = thread();
    ask(one);
    await untilFound('tcp');
    upstream.udpScript = () => undefined;
    const before = probes().length;
    const asked = one.ask(question('silent.example.org', 'A'), () => undefined);
    asked.resend();
    await until(
      'three pairs',
      () => probes().length,
      (count) => count >= before + 9,
    );
    expect([record.finding('case'), record.finding('cookies')]).toEqual(['supported', 'supported']);
    asked.cancel();
  });

  test('keeps features enabled if replies with wrong IDs arrive on the ports of their probes', async () => {
    upstream.udpScript = baking;
    const one = thread();
    ask(one);
    await untilFound('tcp');
    const isPlain = (query: ReceivedQuery): boolean => !isMixed(query) && cookieOf(query).length === 0;
    upstream.udpScript = (query, index) => {
      if (!nameIn(query).toLowerCase().includes('a-public-name')) return;
      if (!isPlain(query)) query.bytes[0]! ^= 1;
      baking(query, index);
    };
    const before = probes().filter(isPlain).length;
    const asked = one.ask(question('silent.example.org', 'A'), () => undefined);
    asked.resend();
    const untilAsked = (count: number): Promise<unknown> =>
      until(
        'pairs of probes',
        () => {
          asked.resend();
          return probes().filter(isPlain).length;
        },
        (seen) => seen >= before + count,
      );
    await untilAsked(1);
    offsetMs += 1000;
    await untilAsked(2);
    offsetMs += 1000;
    await untilAsked(3);
    expect([record.finding('case'), record.finding('cookies')]).toEqual(['supported', 'supported']);
    expect([record.isStruck('case'), record.isStruck('cookies')]).toEqual([false, false]);
    asked.cancel();
  });

  test('starts one pair of probes per second, for all threads together', async () => {
    upstream.udpScript = baking;
    const threads = [thread(), thread()];
    ask(threads[0]!);
    await untilFound('tcp');
    const before = probes().length;
    const isHeld: Script = () => undefined;
    upstream.udpScript = isHeld;
    const asked = threads.flatMap((by) =>
      [0, 1, 2].map(() => by.ask(question('x.example.org', 'A'), () => undefined)),
    );
    for (const exchange of asked) exchange.resend();
    // The queries with mixed case, with a cookie, and without either.
    await until(
      'a pair',
      () => probes().length,
      (count) => count >= before + 3,
    );
    expect(probes()).toHaveLength(before + 3);
    for (const exchange of asked) exchange.cancel();
  });
});
