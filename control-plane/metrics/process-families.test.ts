import { expect, jest, test } from '@jest/globals';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { Counter } from '../../shared/memory/counters.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { createWorkerMemory } from '../threads/worker-memory.ts';
import { processFamilies } from './process-families.ts';
import { PrometheusText } from './prometheus-text.ts';
import { threadCounters } from './thread-counters.ts';

test('processFamilies() labels threads with their names', async () => {
  const memory = createWorkerMemory();
  const counters = new Float64Array(memory.resolveCounters);
  counters[Counter.LOOP_LAG_MS] = 250;
  counters[Counter.LOOP_BEATS] = 12;
  const worker = new Worker('require("node:worker_threads").parentPort.on("message", () => 0)', {
    eval: true,
    name: 'dns-resolve-13',
  });
  await within('the thread to start', once(worker, 'online'));
  const metrics = new PrometheusText(processFamilies(threadCounters([memory])));
  const scraped = new ScrapedMetrics(await metrics.text());
  await worker.terminate();
  const cpu = (thread: string, ofWorker: string): number =>
    scraped.sum('weir_thread_cpu_seconds_total', { thread, worker: ofWorker });
  expect(cpu('resolve', '13')).toBeGreaterThan(0);
  expect(cpu('main', '')).toBeGreaterThan(0);
  expect(scraped.sum('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(scraped.sum('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  expect(scraped.sum('weir_heap_bytes', { kind: 'used' })).toBeGreaterThan(1e6);
  // The loop was idle while it waited for the thread, so a delay has been measured or soon will be.
  const beats = await until(
    'a beat of the loop',
    async () => new ScrapedMetrics(await metrics.text()).sum('weir_main_event_loop_lag_seconds_count'),
    (count) => count > 0,
  );
  expect(beats).toBeGreaterThan(0);
  expect(scraped.find('weir_event_loop_lag_seconds_total')).toEqual([
    { name: 'weir_event_loop_lag_seconds_total', labels: { thread: 'resolve', worker: '0' }, value: 0.25 },
  ]);
  expect(scraped.sum('weir_event_loop_beats_total')).toBe(12);
});

test('processFamilies() measures the delay of the main event loop four times a second', async () => {
  jest.useFakeTimers();
  const metrics = new PrometheusText(processFamilies([]));
  jest.advanceTimersByTime(2000);
  jest.useRealTimers();
  const scraped = new ScrapedMetrics(await metrics.text());
  expect(scraped.sum('weir_main_event_loop_lag_seconds_count')).toBe(8);
});
