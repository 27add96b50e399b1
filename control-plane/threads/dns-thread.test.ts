import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { askOverTcp, UdpClient } from '../../test/support/dns/dns-client.ts';
import { secretOfTests } from '../../test/support/parts/cookies-of-tests.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { settingsOf } from '../../test/support/parts/running-worker.ts';
import { describeCalls } from '../../test/support/parts/system-calls.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { WorkerSupervisor } from './supervisor.ts';

const BLOCKED = 'ads.example';
const SNAPSHOT = snapshotOf(
  [{ text: `||${BLOCKED}^`, reading: { kind: 'block', subdomains: false } }],
  {},
  1,
);

async function start(port: number): Promise<WorkerSupervisor> {
  const supervisor = new WorkerSupervisor({
    workers: 1,
    settings: settingsOf(port, null),
    cache: createAnswerCache(0),
    secret: secretOfTests,
    snapshot: SNAPSHOT,
    logger: new MemoryLogger(),
  });
  await supervisor.start();
  return supervisor;
}

describeCalls('DNS threads that are requested to end but to keep their sockets', () => {
  test('answer waiting queries when they resume reading', async () => {
    const port = await freePort(['127.0.0.1']);
    const supervisor = await start(port);
    using client = await UdpClient.open(port);
    expect((await client.ask(BLOCKED, 'A')).rcode).toBe(Rcode.NOERROR);
    await supervisor.drain(undefined, true);
    const waiting = Promise.all([client.ask(BLOCKED, 'A'), askOverTcp(port, BLOCKED, 'A')]);
    await supervisor.readAgain();
    expect((await waiting).map(({ data }) => data)).toEqual([['0.0.0.0'], ['0.0.0.0']]);
    // No thread died.
    expect(supervisor.state().restarts).toBe(0);
    await supervisor.drain();
  });

  test('continue if the request is withdrawn before they have stopped', async () => {
    const port = await freePort(['127.0.0.1']);
    const supervisor = await start(port);
    using client = await UdpClient.open(port);
    const draining = supervisor.drain(undefined, true);
    const waiting = client.ask(BLOCKED, 'A');
    const reading = supervisor.readAgain();
    await draining;
    await reading;
    expect((await waiting).data).toEqual(['0.0.0.0']);
    expect((await askOverTcp(port, BLOCKED, 'A')).data).toEqual(['0.0.0.0']);
    expect(supervisor.state().restarts).toBe(0);
    await supervisor.drain();
  });
});

describe('DNS threads that are requested to end', () => {
  test('close their sockets and their eventfd', async () => {
    const supervisor = await start(await freePort(['127.0.0.1']));
    const control = new Int32Array(supervisor.memories()[0]!.control);
    await supervisor.drain();
    expect(control[WorkerControl.UDP_FD_COUNT_WORD]).toBe(0);
    expect(control[WorkerControl.LISTENER_FD_COUNT_WORD]).toBe(0);
    expect(control[WorkerControl.WAKE_FD_WORD]).toBe(0);
  });
});
