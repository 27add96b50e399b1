import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { LogRingWriter } from '../../../dns-worker/report/log-ring.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import { LogRing } from '../../../shared/query-log.ts';
import { answeredQuery } from '../../../test/support/parts/answered-query.ts';
import { createWorkerMemory } from '../../workers/worker-memory.ts';
import { LogDrain, type RecordNames } from './log-drain.ts';

/** More than it takes the drain to look at a busy ring, less than to look at one it believes empty. */
const SOON_MS = 25;
const NAMELESS: RecordNames = { rule: () => undefined, schedule: () => undefined, upstream: () => undefined };

let memory: WorkerMemory;
let drain: LogDrain;
let groups: number[];
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'] });
  memory = createWorkerMemory();
  groups = [];
  drain = new LogDrain([memory], NAMELESS, (row) => groups.push(row.groupId));
  drain.start();
});
afterEach(() => {
  drain.stop();
  jest.useRealTimers();
});

function log(ring: SharedArrayBuffer, from: number, count: number): void {
  const writer = new LogRingWriter(ring);
  for (let i = 0; i < count; i++) writer.write(answeredQuery(from + i), 1);
  writer.publish(10);
}

/** Lets the drain find all rings empty. */
function fallAsleep(): void {
  jest.advanceTimersByTime(SOON_MS);
}

/** Does `work`, which wakes a sleeping drain, and returns when the drain knows. */
async function waking(ring: SharedArrayBuffer, work: () => void): Promise<void> {
  const wait = Atomics.waitAsync(new Int32Array(ring), LogRing.ASLEEP_WORD, 1);
  expect(wait.async).toBe(true);
  work();
  await wait.value;
  await setImmediate();
}

describe('LogDrain', () => {
  test('takes records at once that come while it sleeps, from each ring', async () => {
    for (const [index, ring] of [memory.answerLog, memory.resolveLog, memory.answerLog].entries()) {
      fallAsleep();
      await waking(ring, () => log(ring, index, 1));
      jest.advanceTimersByTime(SOON_MS);
      expect(groups.at(-1)).toBe(index);
    }
    expect(groups).toEqual([0, 1, 2]);
  });

  test('takes every record once when a full ring comes out of nothing', async () => {
    const count = 16_384;
    fallAsleep();
    await waking(memory.answerLog, () => log(memory.answerLog, 0, count));
    jest.advanceTimersByTime(SOON_MS);
    while (groups.length < count) await setImmediate();
    expect(groups).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(drain.dropped()).toBe(0);
  });

  test('finds what a thread left that died before it could say so', () => {
    fallAsleep();
    const control = new Int32Array(memory.answerLog);
    Atomics.store(control, LogRing.ASLEEP_WORD, 0);
    log(memory.answerLog, 7, 1);
    jest.advanceTimersByTime(1000);
    expect(groups).toEqual([7]);
  });

  test('names upstream servers by their number, and none where none was asked', () => {
    const upstreams: (string | null)[] = [];
    drain.stop();
    const names = { ...NAMELESS, upstream: (index: number) => ['first', 'second'][index] };
    drain = new LogDrain([memory], names, (row) => upstreams.push(row.upstream));
    const writer = new LogRingWriter(memory.resolveLog);
    for (const upstream of [0, 1, 2, 9]) writer.write(Object.assign(answeredQuery(), { upstream }), 1);
    writer.publish(10);
    drain.start();
    drain.stop();
    expect(upstreams).toEqual([null, 'first', 'second', null]);
  });

  test('stop() takes what is left, and nothing wakes it afterwards', async () => {
    fallAsleep();
    log(memory.answerLog, 1, 5);
    drain.stop();
    expect(groups).toEqual([1, 2, 3, 4, 5]);
    await setImmediate();
    expect(jest.getTimerCount()).toBe(0);
  });
});
