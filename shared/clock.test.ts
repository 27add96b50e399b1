import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';

/** What two threads may disagree by: far less than it takes to ask one, and more than a reading takes. */
const TOLERANCE_MS = 0.2;
const SOURCE = `
  const { parentPort } = require('node:worker_threads');
  import(${JSON.stringify(new URL('./clock.ts', import.meta.url).href)}).then(({ systemClock }) => {
    parentPort.on('message', () => parentPort.postMessage(systemClock.monotonicMs()));
    parentPort.postMessage('ready');
  });
`;

describe('systemClock', () => {
  test('systemClock.monotonicMs() is the same clock in all threads', async () => {
    const workers = Array.from({ length: 8 }, () => new Worker(SOURCE, { eval: true }));
    try {
      for (const worker of workers) {
        await once(worker, 'message');
        const before = systemClock.monotonicMs();
        worker.postMessage('read');
        const [there] = (await once(worker, 'message')) as [number];
        const after = systemClock.monotonicMs();
        expect(there).toBeGreaterThanOrEqual(before - TOLERANCE_MS);
        expect(there).toBeLessThanOrEqual(after + TOLERANCE_MS);
      }
    } finally {
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
  });
});
