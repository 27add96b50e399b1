import { afterEach, expect, test } from '@jest/globals';
import { describeCalls, systemCalls } from '../../test/support/parts/system-calls.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import type { NativeCalls } from './native-calls.ts';
import { openUdpSockets, type UdpSocket } from './udp-sockets.ts';
import { UdpWait } from './udp-wait.ts';

const EMPTY_ROUNDS = 25;

const fds = new Set<number>();

afterEach(() => {
  for (const fd of fds) systemCalls.close(fd);
  fds.clear();
});

const open = (socketCount: number, changed: Partial<NativeCalls> = {}, coalesceUs = 0) => {
  const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
  const addresses = ['127.0.0.1', '127.0.0.2'].slice(0, socketCount);
  const sockets: UdpSocket[] = openUdpSockets(systemCalls, control, addresses, 0);
  const wait = new UdpWait({ ...systemCalls, ...changed }, control, sockets, coalesceUs);
  for (const { fd } of sockets) fds.add(fd);
  fds.add(control[WorkerControl.WAKE_FD_WORD]!);
  return { control, sockets, wait };
};

const countMessage = (control: Int32Array): void => void Atomics.add(control, WorkerControl.MESSAGES_WORD, 1);

describeCalls('UdpWait.forever(), the loop that waits for datagrams,', () => {
  test('reads messages first, continues while there are more, and ends when the handler returns true', () => {
    const { control, wait } = open(1);
    const steps: string[] = [];
    wait.forever(
      () => {
        steps.push('batch');
        if (steps.length === 4) countMessage(control);
        return 1;
      },
      () => steps.push('mail') > 4,
      () => undefined,
    );
    expect(steps).toEqual(['mail', 'batch', 'batch', 'batch', 'mail']);
  });

  test('blocks in the receive call of its only socket, and goes idle after 25 empty calls', () => {
    const { control, wait } = open(1);
    const blocks: boolean[] = [];
    let idles = 0;
    let reads = 0;
    wait.forever(
      (_, block) => {
        blocks.push(block);
        return 0;
      },
      () => reads++ > 0,
      () => {
        idles++;
        countMessage(control);
      },
    );
    expect(blocks).toEqual(Array<boolean>(EMPTY_ROUNDS).fill(true));
    expect(idles).toBe(1);
  });

  test('restarts the count of empty receive calls with each datagram', () => {
    const { control, wait } = open(1);
    let rounds = 0;
    let reads = 0;
    wait.forever(
      () => (++rounds === EMPTY_ROUNDS ? 1 : 0),
      () => reads++ > 0,
      () => countMessage(control),
    );
    expect(rounds).toBe(2 * EMPTY_ROUNDS);
  });

  test('does not block in a receive call with several sockets, and sleeps while all are empty', () => {
    const asleep: number[] = [];
    const asked: [number, boolean][] = [];
    const opened = open(2, {
      poll: (descriptors, count) => {
        asleep.push(opened.control[WorkerControl.ANSWER_ASLEEP_WORD]!);
        countMessage(opened.control);
        return systemCalls.poll(descriptors, count, 0);
      },
    });
    let reads = 0;
    opened.wait.forever(
      (socket, block) => {
        asked.push([socket, block]);
        return 0;
      },
      () => reads++ > 0,
      () => undefined,
    );
    expect(asked).toEqual([
      [0, false],
      [1, false],
    ]);
    expect(asleep).toEqual([1]);
    expect(opened.control[WorkerControl.ANSWER_ASLEEP_WORD]).toBe(0);
  });

  test('does not sleep if a message arrived just before the thread was marked as asleep', () => {
    let polls = 0;
    const { control, wait } = open(2, { poll: () => polls++ });
    let reads = 0;
    wait.forever(
      (socket) => {
        if (socket === 1) countMessage(control);
        return 0;
      },
      () => reads++ > 0,
      () => undefined,
    );
    expect(polls).toBe(0);
  });

  test('counts its turns, so that a hanging thread is noticed', () => {
    const { control, wait } = open(1);
    let batches = 0;
    wait.forever(
      () => {
        if (++batches === 10) countMessage(control);
        return 1;
      },
      () => batches === 10,
      () => undefined,
    );
    expect(control[WorkerControl.ANSWER_BEAT_WORD]).toBe(11);
  });

  test.each([
    ['lets more come after a thin batch at a high rate', 1, 50, true],
    ['does not wait after a full batch', 16, 50, false],
    ['does not wait if that is disabled', 1, 0, false],
  ])('%s', (_, perBatch, coalesceUs, isWaiting) => {
    let waits = 0;
    const { control, wait } = open(1, { usleep: () => waits++ }, coalesceUs);
    let datagrams = 0;
    let reads = 0;
    wait.forever(
      () => {
        // The start of the first sample is unknown, so two samples are needed; the second runs as fast as a loop can.
        if ((datagrams += perBatch) >= 4 * 1024) countMessage(control);
        return perBatch;
      },
      () => reads++ > 0,
      () => undefined,
    );
    expect(waits > 0).toBe(isWaiting);
  });
});

describeCalls('UdpWait', () => {
  test('records the eventfd that wakes it, and uses a recorded eventfd', () => {
    const { control, sockets } = open(1);
    const noted = control[WorkerControl.WAKE_FD_WORD];
    expect(noted).toBeGreaterThan(0);
    new UdpWait({ ...systemCalls, eventfd: () => -1 }, control, sockets, 0);
    expect(control[WorkerControl.WAKE_FD_WORD]).toBe(noted);
  });
});
