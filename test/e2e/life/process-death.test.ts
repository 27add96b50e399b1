/**
 * The end of the process by a stop or a kill: on a stop, Weir answers queries in flight; a kill loses only few log
 * rows.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { embeddedTarget } from '../../../control-plane/storage/db/database-target.ts';
import { runningServerAddress } from '../../../control-plane/storage/db/running-postgres.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import {
  EVERY_ADDRESS,
  startEchoingUpstream,
  startSlowUpstream,
} from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { Load } from '../../support/weir/query-load.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const SLOW_MS = 1200;

/**
 * Number of log rows in the database. Does not use the API, because an API request would first store rows that are in
 * memory.
 */
async function storedRows({ tempDir }: Weir): Promise<number> {
  const client = new pg.Client(embeddedTarget(runningServerAddress(tempDir.dataDir)).config);
  await client.connect();
  const sum = 'SELECT coalesce(sum(row_count), 0)::integer AS stored FROM query_blocks';
  const { rows } = await client.query<{ stored: number }>(sum);
  await client.end();
  return rows[0]!.stored;
}

let upstream: ScriptedUpstream;
let lists: ListServer;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  lists = await startListServer();
  lists.serve('/list.txt', 'blocked.example.com\n');
});
afterAll(async () => {
  await upstream.close();
  await lists.close();
});

describe.each(BACK_ENDS)('weir receiving SIGTERM, back end %s', (backEnd) => {
  /** Each test checks the rows that the previous test left in the log. */
  let weir: Weir;
  const tempDir = makeTempDir();
  const startOn = async (server: ScriptedUpstream): Promise<Weir> =>
    (weir = await Weir.start({ backEnd, tempDir, upstreams: [`127.0.0.1:${String(server.port)}`] }));
  beforeAll(() => prepareDataDir(tempDir.dataDir));
  afterAll(async () => {
    await weir.stop();
    tempDir.remove();
  });

  test('answers queries in flight at SIGTERM, over UDP and TCP, and exits with 0', async () => {
    await using slow = await startSlowUpstream(SLOW_MS);
    await startOn(slow);
    using udp = await UdpClient.open(weir.dnsPort);
    await using tcp = await TcpClient.open(weir.dnsPort);
    const replies = Promise.all([
      ...Array.from({ length: 200 }, (_, i) => udp.ask(`${String(i)}.flying.example.com`, 'A')),
      tcp.ask('tcp.flying.example.com', 'A'),
    ]);
    await until(
      '201 questions at the upstream',
      () => slow.udpQuestions.length,
      (count) => count >= 201,
    );
    const ended = weir.end('SIGTERM');
    expect((await replies).map(({ data }) => data)).toEqual(Array(201).fill([EVERY_ADDRESS]));
    await tcp.closed;
    expect(await ended).toMatchObject({ code: 0 });
  });

  test('logs queries in flight, and exits with 0 in time despite open upstream, client and web connections', async () => {
    await using silent = await ScriptedUpstream.start();
    await startOn(silent);
    const api = await weir.api();
    expect(await api.untilQueryCount(201, 'domain=.flying.example.com')).toBe(201);
    using udp = await UdpClient.open(weir.dnsPort);
    await using tcp = await TcpClient.open(weir.dnsPort);
    await using browser = await TcpClient.open(weir.webPort);
    browser.socket.write('GET /api/health HTTP/1.1\r\n');
    const unanswered = udp.ask('silent.example.com', 'A').catch(() => null);
    await until('a question at the silent upstream', () => silent.udpQueries.length);
    const load = await Load.start(weir.dnsPort, 'unanswered');
    expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
    load.abandon();
    // On the stop, Weir answers the waiting client immediately.
    expect(await unanswered).toMatchObject({ rcode: Rcode.SERVFAIL });
    await tcp.closed;
  });
});

describe('weir receiving SIGINT', () => {
  test('exits with 0 under load, and has every query that it answered in the log', async () => {
    const upstreams = [`127.0.0.1:${String(upstream.port)}`];
    await using weir = await Weir.start({ upstreams });
    const load = await Load.start(weir.dnsPort, 'ending');
    await load.untilMore(500);
    expect(await weir.end('SIGINT')).toMatchObject({ code: 0 });
    load.abandon();
    const answered = load.replies.length;
    await using again = await Weir.start({ tempDir: weir.tempDir, upstreams });
    const api = await again.api();
    expect(await api.untilQueryCount(answered, 'domain=.ending.')).toBeGreaterThanOrEqual(answered);
    expect(await again.stop()).toMatchObject({ code: 0 });
  });
});

describe('weir killed by SIGKILL', () => {
  test('restarts from its data directory, blocks as before, and has lost at most one second of its log', async () => {
    await using weir = await Weir.start({
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      // With one worker, log rows are in the order of the answers.
      env: { WEIR_SERVER_WORKERS: '1' },
    });
    const api = await weir.api();
    expect(await api.addSource({ name: 'list', url: lists.url('/list.txt') })).toMatchObject({
      status: 'ok',
    });
    const load = await Load.start(weir.dnsPort, 'killed');
    await load.untilMore(1000);
    await until('rows of the log to be stored', () => storedRows(weir), Boolean, { pauseMs: 50 });
    const repliesAtKill = [...load.replies];
    expect(await weir.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    load.abandon();

    await using again = await Weir.start({
      tempDir: weir.tempDir,
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
    });
    using udp = await UdpClient.open(again.dnsPort);
    expect(await udp.ask('blocked.example.com', 'A')).toMatchObject({ data: ['0.0.0.0'] });
    expect(await udp.ask('alive.example.com', 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    const after = await again.api();
    expect(await after.untilQueryCount(1, 'domain=alive.example.com')).toBe(1);
    const rows = await after.queries('domain=.killed.example.com');
    const logged = new Set(rows.map(({ domain }) => domain));
    expect(logged.size).toBe(rows.length);
    // A batch is stored each second, so only queries after the last batch are lost.
    const isLogged = repliesAtKill.map(({ name }) => logged.has(name));
    expect(isLogged.slice(0, isLogged.lastIndexOf(true))).not.toContain(false);
    expect(logged.size).toBeGreaterThan(0);
    expect(await again.stop()).toMatchObject({ code: 0 });
  });
});
