import { afterEach, describe, expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Rcode } from '../../shared/dns/iana.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import { NodeState } from '../../shared/threads/messages.ts';
import type { ThreadRole } from '../../shared/threads/messages.ts';
import { TcpClient, UdpClient } from '../../test/support/dns/dns-client.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../test/support/parts/test-config.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { DnsListenError } from './dns-port.ts';
import { type SupervisorOptions, WorkerSupervisor } from './supervisor.ts';
import { workerSettings } from '../node/thread-settings/worker-settings.ts';
import { secretOfTests } from '../../test/support/parts/cookies-of-tests.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;

/** A snapshot that blocks one name, which is different in each version. */
const snapshot = (version: number): SnapshotBuffers =>
  snapshotOf([{ text: `||v${version}.example^`, reading: BLOCK }], {}, version);

let logger: MemoryLogger;
let port: number;
const started: WorkerSupervisor[] = [];
afterEach(async () => {
  for (const supervisor of started.splice(0)) await supervisor.drain();
});

/** Creates, but does not start, a supervisor of one worker on a free port, with snapshot 1. */
async function make(options: Partial<SupervisorOptions> = {}): Promise<WorkerSupervisor> {
  const config = testConfig('dns.pools = [{ name = "none", servers = ["127.0.0.1:9"] }]');
  logger = new MemoryLogger();
  port = await freePort(['127.0.0.1']);
  return new WorkerSupervisor({
    workers: 1,
    settings: workerSettings(config, port, { udpBackend: 'auto', faultInjection: true }),
    cache: createAnswerCache(0),
    secret: secretOfTests,
    snapshot: snapshot(1),
    logger,
    ...options,
  });
}

async function start(options: Partial<SupervisorOptions> = {}): Promise<WorkerSupervisor> {
  const supervisor = await make(options);
  started.push(supervisor);
  await supervisor.start();
  supervisor.setNodeState(NodeState.READY);
  return supervisor;
}

/** Makes a thread end or hang. */
function breakThread(supervisor: WorkerSupervisor, role: ThreadRole, fault: 'exit' | 'throw' | 'hang'): void {
  supervisor.injectFault(0, role, fault);
}

/** The threads of a worker; if batched system calls are unavailable, it has no answer thread. */
function rolesOf(supervisor: WorkerSupervisor): readonly ThreadRole[] {
  return supervisor.state().backend === 'batch' ? ['answer', 'resolve'] : ['resolve'];
}

async function untilReplaced(supervisor: WorkerSupervisor, count: number): Promise<void> {
  await until(
    'threads to be replaced',
    () => supervisor.state(),
    ({ restarts, answering }) => restarts === count && answering === 1,
  );
}

/** Expects that every worker blocks the name of this version; sends queries from many sockets, to reach all workers. */
async function expectBlocked(version: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 16 }, () => UdpClient.open(port)));
  const replies = await Promise.all(clients.map((client) => client.ask(`v${version}.example`, 'A')));
  expect(new Set(replies.map(({ data }) => data[0]))).toEqual(new Set(['0.0.0.0']));
  for (const client of clients) client.close();
}

describe('start()', () => {
  test('resolves when every worker answers from the first snapshot, and later snapshots become active', async () => {
    const supervisor = await start({ workers: 2 });
    expect(supervisor.state()).toMatchObject({ answering: 2, workers: 2, restarts: 0 });
    expect([supervisor.memories().length, supervisor.upstreams().length]).toEqual([2, 2]);
    await expectBlocked(1);
    expect(await supervisor.broadcast(snapshot(2))).toBe(0);
    await expectBlocked(2);
  });

  test('publishes the state of the node before a thread can answer', async () => {
    const states: number[] = [];
    const supervisor = await make({
      nodeState: NodeState.READY,
      equip: () => states.push(supervisor.nodeState(), supervisor.state().answering),
    });
    started.push(supervisor);
    await supervisor.start();
    expect(states).toEqual([NodeState.READY, 0]);
  });

  test('rejects with the cause if threads die when they start', async () => {
    const damaged = { ...snapshot(1), rules: new SharedArrayBuffer(4) };
    const supervisor = await make({ snapshot: damaged });
    await expect(supervisor.start()).rejects.toMatchObject({
      message: expect.stringMatching(/^could not start a DNS thread: ./),
      cause: expect.any(Error),
    });
    expect(supervisor.state()).toMatchObject({ answering: 0, restarts: 0 });
  });

  test('rejects if its port is in use, and leaves no thread running', async () => {
    const supervisor = await make();
    const other = createSocket('udp4').bind(port, '127.0.0.1');
    await once(other, 'listening');
    const error: unknown = await supervisor.start().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DnsListenError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        `could not listen for DNS on 127.0.0.1 port ${port}: another program uses this port`,
      ),
      code: 'EADDRINUSE',
    });
    other.close();
    expect(supervisor.state()).toMatchObject({ answering: 0, restarts: 0 });
  });
});

describe('broadcast()', () => {
  test('waits for a hanging thread only up to its limit, and counts this thread', async () => {
    const supervisor = await start({ snapshotWaitMs: 2000 });
    breakThread(supervisor, 'resolve', 'hang');
    expect(await supervisor.broadcast(snapshot(2))).toBe(1);
    expect(logger.lines).toContainEqual({
      level: 'warn',
      message: 'threads did not confirm the snapshot in time',
      fields: { version: 2, threads: 1 },
    });
    // The thread hangs and is replaced, and the new thread starts with the snapshot that the old one missed.
    await untilReplaced(supervisor, 1);
    expect(logger.text()).toContain('terminating a DNS thread that hangs');
    await expectBlocked(2);
    expect(await supervisor.broadcast(snapshot(3))).toBe(0);
  });

  test('waits for the replacement of a thread that hangs', async () => {
    const supervisor = await start({ snapshotWaitMs: 60_000 });
    for (const role of rolesOf(supervisor)) {
      const { restarts } = supervisor.state();
      breakThread(supervisor, role, 'hang');
      const version = restarts + 2;
      expect(await supervisor.broadcast(snapshot(version))).toBe(0);
      await untilReplaced(supervisor, restarts + 1);
      await expectBlocked(version);
    }
  });

  test('sends the newest snapshot to threads that are starting', async () => {
    const supervisor = await start();
    // Read first, because a worker without threads does not know its back end.
    const roles = rolesOf(supervisor);
    for (const role of roles) breakThread(supervisor, role, 'exit');
    const versions = [2, 3, 4];
    await Promise.all(versions.map((version) => supervisor.broadcast(snapshot(version))));
    await untilReplaced(supervisor, roles.length);
    expect(await supervisor.broadcast(snapshot(5))).toBe(0);
    await expectBlocked(5);
  });
});

describe('a DNS thread that ends unexpectedly', () => {
  test('is replaced, and the replacement is counted', async () => {
    const supervisor = await start();
    const roles = rolesOf(supervisor);
    for (const role of roles) breakThread(supervisor, role, 'throw');
    await untilReplaced(supervisor, roles.length);
    for (const role of roles)
      expect(logger.lines).toContainEqual({
        level: 'error',
        message: 'replacing a DNS thread that died',
        fields: expect.objectContaining({ worker: 0, role }) as unknown as Record<string, unknown>,
      });
    await expectBlocked(1);
  });
});

describe('requests to DNS threads', () => {
  const question = {
    qname: nameFromText('v1.example')!,
    qtype: 1,
    client: addressFromText('192.0.2.9')!,
  };

  test('are answered by a resolve thread: explain()', async () => {
    const supervisor = await start();
    const explanation = await supervisor.requests.explain(question);
    expect(explanation).toMatchObject({ snapshotVersion: 1, status: QueryStatus.BLOCKED_LIST });
  });

  test('are rejected immediately while no thread runs: explain()', async () => {
    const supervisor = await make();
    await expect(supervisor.requests.explain(question)).rejects.toThrow('no DNS thread is running');
  });
});

describe('drain()', () => {
  test('ends every thread, and replaces none', async () => {
    const supervisor = await start();
    await supervisor.drain();
    started.length = 0;
    expect(supervisor.state()).toMatchObject({ answering: 0, restarts: 0 });
    const free = createSocket('udp4').bind(port, '127.0.0.1');
    await once(free, 'listening');
    free.close();
  });

  test('prevents a later start() from starting threads, which would keep the process alive', async () => {
    const supervisor = await make();
    await supervisor.drain();
    await supervisor.start();
    expect(supervisor.state().answering).toBe(0);
  });

  test('answers SERVFAIL to clients that wait for an upstream, even if its time limit is shorter than the query timeout', async () => {
    await using upstream = await ScriptedUpstream.start();
    const config = testConfig(
      `dns.pools = [{ name = "silent", servers = ["127.0.0.1:${String(upstream.port)}"] }]`,
    );
    const given = await freePort(['127.0.0.1']);
    const supervisor = await start({
      settings: workerSettings(config, given, { udpBackend: 'auto', faultInjection: false }),
    });
    using udp = await UdpClient.open(given);
    await using tcp = await TcpClient.open(given);
    const replies = Promise.all([udp.ask('silent.example', 'A'), tcp.ask('silent.example', 'AAAA')]);
    await until(
      'the questions of both clients',
      () => upstream.udpQuestions.length,
      (count) => count >= 2,
    );
    await supervisor.drain(1500);
    started.length = 0;
    expect((await replies).map(({ rcode }) => rcode)).toEqual([Rcode.SERVFAIL, Rcode.SERVFAIL]);
  });

  test('ends a thread that hangs', async () => {
    const supervisor = await start();
    breakThread(supervisor, 'resolve', 'hang');
    await supervisor.drain(200);
    started.length = 0;
    expect(supervisor.state()).toMatchObject({ answering: 0, restarts: 0 });
  });
});
