/**
 * Threads that the test hook makes end or hang: they are replaced and counted, other workers continue, and the
 * replacement of a thread answers queries that wait in its sockets.
 */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Health } from '../../../shared/api/system-api.ts';
import type { QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { ThreadRole } from '../../../shared/threads/messages.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { query } from '../../support/dns/dns-message.ts';
import { askOverTcp, TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { until } from '../../support/parts/until.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const WORKERS = 2;
/** Enough clients for the kernel to spread over the sockets of both workers. */
const CLIENTS = 32;

let upstream: ScriptedUpstream;
let lists: ListServer;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  lists = await startListServer();
  lists.serve('/list.txt', '0.0.0.0 listed.example.com\n');
  lists.serve('/named.txt', '0.0.0.0 named.example.com\n');
});
afterAll(async () => {
  await upstream.close();
  await lists.close();
});

describe.each(BACK_ENDS)('weir whose threads die, back end %s', (backEnd) => {
  let weir: Weir;
  let clients: UdpClient[] = [];
  let serial = 0;
  const roles: readonly ThreadRole[] = backEnd === 'batch' ? ['answer', 'resolve'] : ['resolve'];

  beforeAll(async () => {
    weir = await Weir.start({
      backEnd,
      env: { WEIR_SERVER_WORKERS: String(WORKERS) },
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
    });
    clients = await Promise.all(Array.from({ length: CLIENTS }, () => UdpClient.open(weir.dnsPort)));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  /** Sends a query from every client, so that every worker receives some; a new name also needs a resolve thread. */
  async function askFromEverywhere(name: string): Promise<unknown[]> {
    const replies = await Promise.all(clients.map((client) => client.ask(name, 'A')));
    return replies.map(({ data }) => data[0]);
  }

  async function untilReplaced(count: number): Promise<void> {
    await until(
      `${String(count)} threads to be replaced`,
      () => ({ replaced: weir.replacedThreads, hasEnded: weir.hasEnded }),
      ({ replaced, hasEnded }) => hasEnded || replaced >= count,
    );
    await weir.untilHealth(({ checks }) => checks.dns.status === 'ok');
  }

  const faults = roles.flatMap((role) =>
    (['exit', 'throw', 'hang'] as const).flatMap((fault) =>
      (fault === 'exit' ? [0, 1] : [0]).map((worker) => ({ role, fault, worker })),
    ),
  );

  test.each(faults)(
    'replaces the $role thread of worker $worker after the fault $fault',
    async ({ role, fault, worker }) => {
      const before = weir.replacedThreads;
      weir.injectFault(worker, role, fault);
      await untilReplaced(before + 1);
      expect(weir.replacedThreads).toBe(before + 1);
      const api = await weir.api();
      expect((await api.expect<Health>(200, 'GET', '/health')).checks.dns).toEqual({
        status: 'ok',
        detail: `${String(WORKERS)} of ${String(WORKERS)} workers answer, ${String(before + 1)} threads were replaced`,
      });
      const name = `after-${String(serial++)}.example.com`;
      expect(await askFromEverywhere(name)).toEqual(Array<string>(CLIENTS).fill(EVERY_ADDRESS));
      expect((await askOverTcp(weir.dnsPort, name, 'A')).data).toEqual([EVERY_ADDRESS]);
    },
  );

  if (backEnd === 'batch') {
    test('answers cached names queried while an answer thread is dead, without losing a query', async () => {
      await askFromEverywhere('queued.example.com');
      const before = weir.replacedThreads;
      weir.injectFault(0, 'answer', 'exit');
      // Queries are sent without a pause, so some queries wait in the socket of the missing thread.
      for (let round = 0; round < 20; round++)
        expect(await askFromEverywhere('queued.example.com')).toEqual(
          Array<string>(CLIENTS).fill(EVERY_ADDRESS),
        );
      await untilReplaced(before + 1);
    });

    test('closes all upstream sockets of an answer thread that died', async () => {
      const sockets = (): number => readdirSync(`/proc/${String(weir.pid)}/fd`).length;
      const before = sockets();
      const { udpScript } = upstream;
      upstream.udpScript = () => undefined;
      for (let i = 0; i < 10; i++)
        for (const client of clients)
          await client.send(query(`held-${String(serial++)}.example.com`, 'A', { id: serial }));
      await until('sockets to the server', sockets, (count) => count > before + 10);
      const replaced = weir.replacedThreads;
      for (let worker = 0; worker < WORKERS; worker++) weir.injectFault(worker, 'answer', 'exit');
      await untilReplaced(replaced + WORKERS);
      upstream.udpScript = udpScript;
      await until('as many descriptors as before', sockets, (count) => count <= before);
      await askFromEverywhere(`after-${String(serial++)}.example.com`);
    });

    test('answers from the cache and its lists while a resolve thread is dead', async () => {
      await askFromEverywhere('known.example.com');
      const before = weir.replacedThreads;
      for (let worker = 0; worker < WORKERS; worker++) weir.injectFault(worker, 'resolve', 'throw');
      for (let round = 0; round < 20; round++)
        expect(await askFromEverywhere('known.example.com')).toEqual(
          Array<string>(CLIENTS).fill(EVERY_ADDRESS),
        );
      await untilReplaced(before + WORKERS);
      // The replacement answers the queries that arrived after the thread had ended.
      expect(await askFromEverywhere('new.example.com')).toEqual(Array<string>(CLIENTS).fill(EVERY_ADDRESS));
    });
  }

  test('replaces all threads if all die together, and closes the TCP connections of the dead threads', async () => {
    await using tcp = await TcpClient.open(weir.dnsPort);
    await tcp.ask('tcp.example.com', 'A');
    const before = weir.replacedThreads;
    for (let worker = 0; worker < WORKERS; worker++)
      for (const role of roles) weir.injectFault(worker, role, 'exit');
    await tcp.closed;
    await untilReplaced(before + WORKERS * roles.length);
    expect(await askFromEverywhere('all-new.example.com')).toEqual(
      Array<string>(CLIENTS).fill(EVERY_ADDRESS),
    );
  });

  test('logs queries answered while the log thread was dead, with the lists that blocked them', async () => {
    const api = await weir.api();
    await api.addSource({ name: 'named', url: lists.url('/named.txt') });
    await weir.breakLog();
    expect(await askFromEverywhere('named.example.com')).toEqual(Array<string>(CLIENTS).fill('0.0.0.0'));
    const page = await until(
      'the queries to be in the log',
      () => api.expect<QueryLogPage>(200, 'GET', '/queries?domain=named.example.com'),
      ({ total }) => total >= CLIENTS,
      { pauseMs: 100 },
    );
    expect(new Set(page.data.map(({ block_source }) => block_source))).toEqual(new Set(['named']));
  });

  test('uses the newest lists in replacement threads', async () => {
    const api = await weir.api();
    const before = weir.replacedThreads;
    for (const role of roles) weir.injectFault(0, role, 'exit');
    expect(await api.addSource({ name: 'list', url: lists.url('/list.txt') })).toMatchObject({
      status: 'ok',
    });
    await untilReplaced(before + roles.length);
    expect(await askFromEverywhere('listed.example.com')).toEqual(Array<string>(CLIENTS).fill('0.0.0.0'));
  });
});
