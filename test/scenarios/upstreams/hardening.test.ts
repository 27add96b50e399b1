/**
 * Correct upstreams that do not support cookies or mixed case well, behind a real worker: every client gets its answer.
 */
import { afterEach, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { HardeningMode } from '../../../shared/policy/hardening-settings.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import {
  anyForeignCookie,
  baking,
  cookieOf,
  droppingCookies,
  echoingOptions,
  everySecondCookie,
  FLAGS,
  foldingCase,
  foreignCookie,
  GOOD_ADDRESS,
  isMixed,
  nameIn,
  refusingCase,
  refusingCookies,
  type TcpBehaviour,
  treatTcp,
} from '../../support/dns/odd-upstreams.ts';
import { type Script, ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';
import { until } from '../../support/parts/until.ts';

const EMPTY = snapshotOf([], {}, 1);
/**
 * Time-out of every question, after which the client gets SERVFAIL. Three times the default, because detection takes up
 * to 2 s, and longer on a busy machine.
 */
const QUERY_TIMEOUT_MS = 9000;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A worker with this upstream, and a client. */
async function open(mode: HardeningMode, script: Script, tcp: TcpBehaviour) {
  const upstream = await ScriptedUpstream.start();
  closing.push(() => upstream.close());
  upstream.udpScript = script;
  treatTcp(upstream, tcp);
  const hardening = { cookies: mode, caseRandomization: mode };
  const settings = { hardening, queryTimeoutMs: QUERY_TIMEOUT_MS };
  const worker = await RunningWorker.start(EMPTY, { upstream, settings });
  closing.push(() => worker[Symbol.asyncDispose]());
  const client = await UdpClient.open(worker.port);
  closing.push(async () => client.close());
  let asked = 0;
  return {
    upstream,
    /** Queries a new name; returns the answer, and the number of queries that the upstream received for the name. */
    async ask() {
      const name = `question-${String(asked++)}.example.org`;
      const reply = await client.ask(name, 'A');
      const label = name.split('.')[0]!;
      const isThis = (query: Parameters<typeof nameIn>[0]): boolean =>
        nameIn(query).toLowerCase().includes(label);
      return {
        rcode: reply.rcode,
        data: reply.answers.map(({ data }) => data),
        udp: upstream.udpQueries.filter(isThis),
        tcp: upstream.tcpQueries.filter(isThis),
      };
    },
  };
}

const ANSWERED = { rcode: Rcode.NOERROR, data: [GOOD_ADDRESS] };

/** The behaviour of the upstream in each row. */
const ROWS: readonly [string, () => Script, TcpBehaviour][] = [
  ['repeats every option of the query', () => echoingOptions, 'silent'],
  ["returns a cookie that is not Weir's", () => foreignCookie, 'works'],
  ["returns a cookie that is not Weir's, whatever it is sent", () => anyForeignCookie, 'works'],
  ["returns a cookie that is not Weir's, and refuses TCP", () => foreignCookie, 'refused'],
  ["returns a cookie that is not Weir's, and is silent over TCP", () => foreignCookie, 'silent'],
  ['answers a cookie with FORMERR and an OPT record', () => refusingCookies, 'works'],
  ['answers a cookie with FORMERR, and refuses TCP', () => refusingCookies, 'refused'],
  ['does not answer queries with a cookie', () => droppingCookies(), 'silent'],
  ['answers mixed case with NXDOMAIN', () => refusingCase(FLAGS.nxdomain), 'refused'],
  ['answers mixed case with NXDOMAIN, and is silent over TCP', () => refusingCase(FLAGS.nxdomain), 'silent'],
  ['answers mixed case with REFUSED', () => refusingCase(FLAGS.refused), 'refused'],
  ['repeats the question in lower case, and is silent over TCP', () => foldingCase, 'silent'],
  ['has a cookie in every second reply, and is silent over TCP', () => everySecondCookie(), 'silent'],
];

describe('an upstream that', () => {
  test.each(ROWS)('%s answers every query at the first attempt by default', async (_what, script, tcp) => {
    const fixture = await open('auto', script(), tcp);
    for (let i = 0; i < 4; i++) {
      const { udp, tcp: overTcp, ...answer } = await fixture.ask();
      expect(answer).toEqual(ANSWERED);
      expect(udp).toHaveLength(1);
      expect(overTcp).toHaveLength(0);
      expect([isMixed(udp[0]!), cookieOf(udp[0]!).length]).toEqual([false, 0]);
    }
  });

  test.each(ROWS)(
    '%s answers every query with hardening enabled, and Weir adapts',
    async (_what, script, tcp) => {
      const fixture = await open('on', script(), tcp);
      expect(await fixture.ask()).toMatchObject(ANSWERED);
      expect(await fixture.ask()).toMatchObject(ANSWERED);
      const third = await fixture.ask();
      expect(third).toMatchObject(ANSWERED);
      // At most three queries: the try of the answer thread, the query of the resolver, and its retransmission.
      expect([third.udp.length <= 3, third.tcp.length <= 1]).toEqual([true, true]);
      const asked = await until(
        'a question that is asked once, over UDP',
        () => fixture.ask(),
        ({ udp, tcp: overTcp }) => udp.length === 1 && overTcp.length === 0,
      );
      expect(asked).toMatchObject(ANSWERED);
    },
  );

  test('stops answering queries with its own server cookie and filters TCP costs one failed query', async () => {
    const fixture = await open('on', baking, 'silent');
    await until(
      'a cookie of the server',
      async () => {
        expect(await fixture.ask()).toMatchObject(ANSWERED);
        return fixture.upstream.udpQueries.some((query) => cookieOf(query).length === 16);
      },
      (isKnown) => isKnown,
    );
    fixture.upstream.udpScript = droppingCookies(16);
    expect(await fixture.ask()).toMatchObject(ANSWERED);
    const { udp, tcp, ...answer } = await fixture.ask();
    expect(answer).toEqual(ANSWERED);
    expect([udp.length, tcp.length]).toEqual([1, 0]);
  });
});
