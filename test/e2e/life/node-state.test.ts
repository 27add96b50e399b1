/** The states that a node reports to load balancers from its first start to its stop (`status.weir`, class CHAOS). */
import { createSocket } from 'node:dgram';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode, RRClass } from '../../../shared/dns/iana.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { query, Reply } from '../../support/dns/dns-message.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { headerFor } from '../../support/parts/proxy-headers.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { HungDatabase } from '../../support/weir/hung-database.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { endProcess, isRunning, processOf } from '../../support/weir/holder.ts';
import { runUpgrade } from '../../support/weir/upgrades.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** Pause between two queries. */
const ASK_MS = 5;
/** Address of the load balancer. */
const BALANCER = '127.0.0.9';

/** Environment of a node that accepts clients from a load balancer. */
const BALANCED = {
  WEIR_SERVER_PROXY_PROTOCOL_ENABLED: 'true',
  WEIR_SERVER_PROXY_PROTOCOL_TRUSTED: BALANCER,
};

/** A node without a policy, and the states that it reports in its first 30 s. */
interface HeldNode {
  readonly weir: Weir;
  readonly elsewhere: Reply;
  readonly here: Reply;
}

const tempDir = makeTempDir();
let lists: ListServer;
let upstream: ScriptedUpstream;
let open: HeldNode;
let closed: HeldNode;
beforeAll(async () => {
  lists = await startListServer();
  lists.serve('/list.txt', 'ads.example\n');
  upstream = await startEchoingUpstream();
  // Starts both nodes now, so that their 30 s pass while the other tests run.
  open = await startHeld(true);
  closed = await startHeld(false);
  await prepareDataDir(tempDir.dataDir);
});
afterAll(async () => {
  for (const { weir } of [open, closed]) await weir.stop();
  await upstream.close();
  await lists.close();
  tempDir.remove();
});

async function startHeld(isUnfiltered: boolean): Promise<HeldNode> {
  const weir = await Weir.start({
    database: 'none',
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    env: { ...BALANCED, WEIR_SERVER_START_UNFILTERED: String(isUnfiltered) },
  });
  using udp = await UdpClient.open(weir.dnsPort);
  return { weir, elsewhere: await reportedElsewhere(weir), here: await udp.ask('www.example.org', 'A') };
}

/** The states that a node reports in sequence, until `last` or until it has ended. */
async function statesUntil(
  weir: Weir,
  last: string,
  hasEnded = (): boolean => weir.hasEnded,
): Promise<string[]> {
  const states: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (bytes) => {
    const state = String(new Reply(bytes, '').data[0]);
    if (state !== states.at(-1)) states.push(state);
  });
  const question = query('status.weir', 'TXT', { id: 1, qclass: RRClass.CH });
  try {
    await until(
      `the state ${last} of a node, or its end`,
      () => {
        socket.send(question, weir.dnsPort, '127.0.0.1');
        return { output: weir.output, states };
      },
      () => states.at(-1) === last || hasEnded(),
      { pauseMs: ASK_MS },
    );
  } finally {
    socket.close();
  }
  return states;
}

describe('the state reported by status.weir', () => {
  test('is starting until lists are active, then ready, and draining after SIGTERM', async () => {
    await using first = await Weir.start({ tempDir });
    await (await first.api()).addSource({ name: 'list', url: lists.url('/list.txt') });
    // The list may become active before the node has checked all lists, which `ready` requires.
    expect((await statesUntil(first, 'ready')).at(-1)).toBe('ready');
    expect(await first.stop()).toMatchObject({ code: 0 });

    // Without snapshots, the node has no policy until its database is available.
    rmSync(join(tempDir.dataDir, 'snapshots'), { recursive: true });
    await using weir = await Weir.launch({ tempDir });
    expect(await statesUntil(weir, 'ready')).toEqual(['starting', 'ready']);
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask('ads.example', 'A')).data).toEqual(['0.0.0.0']);

    // The node waits for the hung database until a time-out, so the stop takes long enough to observe its state.
    using _hung = HungDatabase.of(weir);
    const ended = weir.stop();
    await weir.untilOutput(/stopping/);
    // Weir logs the line above before its threads know about the stop, so the first state may still be `ready`.
    const states = await statesUntil(weir, 'the end');
    expect(states.filter((state, at) => at > 0 || state !== 'ready')).toEqual(['draining']);
    expect(await ended).toMatchObject({ code: 0 });
  });
});

/** The reply to a query from another machine. */
async function reportedElsewhere(weir: Weir): Promise<Reply> {
  await using client = await TcpClient.open(weir.dnsPort, '127.0.0.1', BALANCER);
  client.socket.write(headerFor('192.0.2.7'));
  return await client.ask('www.example.org', 'A', { id: 1, edns: {} });
}

describe('weir whose only list could never be fetched', () => {
  test('answers other machines without a pause while it is upgraded', async () => {
    await using weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`], env: BALANCED });
    const source = await (await weir.api()).addSource({ name: 'dead', url: lists.url('/never-there.txt') });
    expect(source).toMatchObject({ status: 'error' });
    // The node is ready a moment later, once it has checked all lists.
    expect((await statesUntil(weir, 'ready')).at(-1)).toBe('ready');
    const rcodes: number[] = [];
    const before = processOf(weir);
    let isOver = false;
    const asking = (async (): Promise<void> => {
      while (!isOver) {
        rcodes.push((await reportedElsewhere(weir)).rcode);
        await sleep(ASK_MS);
      }
    })();
    expect(await runUpgrade(weir)).toMatchObject({ code: 0 });
    expect(await statesUntil(weir, 'ready', () => !isRunning(processOf(weir)))).toEqual(['ready']);
    isOver = true;
    await asking;
    expect(rcodes.filter((rcode) => rcode !== Rcode.NOERROR)).toEqual([]);
    expect(processOf(weir)).not.toBe(before);
    await endProcess(processOf(weir), 'SIGTERM');
  });
});

describe('weir that was ready although its list was never fetched', () => {
  test('is ready immediately after a restart while its database is unreachable', async () => {
    const airGapped = makeTempDir();
    try {
      await prepareDataDir(airGapped.dataDir);
      await using first = await Weir.start({ tempDir: airGapped });
      const api = await first.api();
      await api.addSource({ name: 'dead', url: lists.url('/never-there.txt') });
      await api.expect(201, 'POST', '/managed-domains', { domain: 'blocked.example' });
      expect((await statesUntil(first, 'ready')).at(-1)).toBe('ready');
      expect(await first.stop()).toMatchObject({ code: 0 });
      await using weir = await Weir.launch({ tempDir: airGapped, database: 'none' });
      expect(await statesUntil(weir, 'ready')).toEqual(['ready']);
      using udp = await UdpClient.open(weir.dnsPort);
      expect((await udp.ask('blocked.example', 'A')).data).toEqual(['0.0.0.0']);
    } finally {
      airGapped.remove();
    }
  });
});

describe('weir with an empty disk and no database', () => {
  test('answers only its own machine, and after 30 s other machines if configured to', async () => {
    for (const { elsewhere, here } of [open, closed]) {
      expect(elsewhere).toMatchObject({ rcode: Rcode.SERVFAIL, extendedErrors: [ExtendedError.NOT_READY] });
      expect(here).toMatchObject({ rcode: Rcode.NOERROR });
    }
    await open.weir.untilOutput(/until then all clients get unfiltered answers/);
    expect(await reportedElsewhere(open.weir)).toMatchObject({ rcode: Rcode.NOERROR });
    await closed.weir.untilOutput(/until then other machines get SERVFAIL/);
    expect(await reportedElsewhere(closed.weir)).toMatchObject({ rcode: Rcode.SERVFAIL });
  });
});
