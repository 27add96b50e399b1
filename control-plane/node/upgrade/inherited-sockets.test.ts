import { afterEach, expect, test } from '@jest/globals';
import { ListeningSockets } from '../../../dns-worker/listeners/listening-sockets.ts';
import { openUdpSockets } from '../../../dns-worker/listeners/udp-sockets.ts';
import { boundSocket } from '../../../shared/net/kernel/bound-socket.ts';
import { WorkerControl } from '../../../shared/threads/messages.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import { settingsOf } from '../../../test/support/parts/running-worker.ts';
import { describeCalls, systemCalls } from '../../../test/support/parts/system-calls.ts';
import { freePort } from '../../../test/support/weir/free-ports.ts';
import { createWorkerMemory } from '../../threads/worker-memory.ts';
import { loadDescriptorCalls } from './descriptor-calls.ts';
import { memoryFile } from './memory-file.ts';
import { InheritedSockets, workerDescriptors } from './inherited-sockets.ts';

describeCalls('InheritedSockets', () => {
  const opened: number[] = [];
  afterEach(() => {
    for (const fd of opened.splice(0)) systemCalls.close(fd);
  });

  /** The sockets of a worker, as another process would pass them. */
  function socketsOf(
    udpAddresses: readonly string[],
    tcpAddresses: readonly string[],
    port: number,
  ): number[] {
    const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
    const listeners = new ListeningSockets(systemCalls, control);
    const found = [
      ...openUdpSockets(systemCalls, control, udpAddresses, port).map(({ fd }) => fd),
      ...tcpAddresses.flatMap((address) => listeners.at({ address, port })),
    ];
    opened.push(...found);
    return found;
  }

  const memories = (count: number): WorkerMemory[] => Array.from({ length: count }, createWorkerMemory);

  test('gives the sockets of a process with fewer workers to the first workers, and none to the remaining workers', async () => {
    const port = await freePort(['127.0.0.1']);
    const passed = socketsOf(['127.0.0.1'], ['127.0.0.1'], port);
    const workers = memories(2);
    const inherited = new InheritedSockets(systemCalls, passed);
    inherited.giveTo(workers, settingsOf(port, null));
    expect(workerDescriptors([workers[0]!])).toEqual(passed);
    expect(workerDescriptors([workers[1]!])).toEqual([]);
  });

  test('gives one worker the sockets of several workers, so that the queue of each socket is read', async () => {
    const port = await freePort(['127.0.0.1']);
    const passed = [...socketsOf(['127.0.0.1'], [], port), ...socketsOf(['127.0.0.1'], [], port)];
    const [worker] = memories(1);
    new InheritedSockets(systemCalls, passed).giveTo([worker!], settingsOf(port, null));
    expect(workerDescriptors([worker!])).toEqual(passed);
    const control = new Int32Array(worker!.control);
    expect(openUdpSockets(systemCalls, control, ['127.0.0.1'], port).map(({ fd }) => fd)).toEqual(passed);
  });

  test('closes sockets of addresses that are no longer in the settings', async () => {
    const port = await freePort(['127.0.0.1']);
    const [kept, removed] = socketsOf(['127.0.0.1', '127.0.0.2'], [], port);
    const inherited = new InheritedSockets(systemCalls, [kept!, removed!]);
    const [worker] = memories(1);
    inherited.giveTo([worker!], settingsOf(port, null));
    inherited.closeRest();
    opened.splice(opened.indexOf(removed!), 1);
    expect(boundSocket(systemCalls, removed!)).toBeNull();
    expect(workerDescriptors([worker!])).toEqual([kept]);
  });

  test('does not use an IPv6-only socket for both IP versions', async () => {
    const port = await freePort(['127.0.0.1', '::1']);
    const [alone] = socketsOf(['::'], [], port);
    const inherited = new InheritedSockets(systemCalls, [alone!]);
    const place = { transport: 'udp', address: '::', port } as const;
    expect(inherited.takeAt({ ...place, isDualStack: true })).toEqual([]);
    expect(inherited.takeAt({ ...place, isDualStack: false })).toEqual([alone]);
    expect(inherited.takeAt({ ...place, isDualStack: false })).toEqual([]);
  });

  test('returns the bytes of a memory file once', () => {
    const loaded = loadDescriptorCalls();
    if (!('calls' in loaded)) throw new Error(loaded.reason);
    const bytes = Buffer.alloc(100_000, 'weir');
    const inherited = new InheritedSockets(systemCalls, [memoryFile(loaded.calls, bytes)]);
    expect(inherited.takeImage()).toEqual(bytes);
    expect(inherited.takeImage()).toBeNull();
  });

  test('closes every descriptor that is not a listening socket', () => {
    const AF_UNIX = 1;
    const SOCK_STREAM = 1;
    const stray = systemCalls.socket(AF_UNIX, SOCK_STREAM, 0);
    new InheritedSockets(systemCalls, [stray]).closeRest();
    expect(systemCalls.close(stray)).toBe(-1);
  });
});
