import { expect, test } from '@jest/globals';
import { LogRing } from '../../shared/query-log.ts';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { createWorkerMemory } from '../threads/worker-memory.ts';
import { PrometheusText } from './prometheus-text.ts';
import { queryLogFamilies } from './query-log-families.ts';
import { threadCounters } from './thread-counters.ts';

test('queryLogFamilies() reports writer, spool and rings, and its counters never decrease', async () => {
  const memory = createWorkerMemory();
  new Int32Array(memory.resolveLog)[LogRing.DROPPED_WORD] = -1;
  let counters = { written: 10, spooled: 2, dropped: 3, refused: 4, waiting: 5 };
  const spoolBytes = async () => 4096;
  const dnstap = () => ({ sent: 6, lost: 7 });
  const spool = { spoolBytes, spoolLimitBytes: 8192 };
  const reads = { counters: () => counters, ...spool, exportFailures: () => 8, dnstap };
  const families = queryLogFamilies(threadCounters([memory]), reads);
  const metrics = new PrometheusText(families);
  const scrape = async () => new ScrapedMetrics(await metrics.text());
  const scraped = await scrape();
  const value = (name: string): number => scraped.sum(`weir_query_log_${name}`);
  expect(['written', 'spooled', 'dropped', 'refused'].map((rows) => value(`${rows}_rows_total`))).toEqual([
    10, 2, 3, 4,
  ]);
  expect(['sent', 'lost'].map((frames) => scraped.sum(`weir_dnstap_${frames}_frames_total`))).toEqual([6, 7]);
  const named = ['waiting_rows', 'spool_bytes', 'spool_max_bytes', 'export_failures_total'];
  expect(named.map(value)).toEqual([5, 4096, 8192, 8]);
  expect(scraped.sum('weir_query_log_ring_dropped_rows_total', { thread: 'resolve' })).toBe(2 ** 32 - 1);
  expect(scraped.sum('weir_query_log_ring_dropped_rows_total', { thread: 'answer' })).toBe(0);
  counters = { ...counters, written: 7 };
  expect((await scrape()).sum('weir_query_log_written_rows_total')).toBe(10);
});
