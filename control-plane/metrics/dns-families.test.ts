import { expect, test } from '@jest/globals';
import { answeredSlot, Counter, latencySlot } from '../../shared/memory/counters.ts';
import { Protocol, QueryStatus } from '../../shared/query-log.ts';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { createWorkerMemory } from '../threads/worker-memory.ts';
import { dnsFamilies } from './dns-families.ts';
import { PrometheusText } from './prometheus-text.ts';
import { threadCounters } from './thread-counters.ts';

test('dnsFamilies() shows the counters of each thread under its labels', async () => {
  const memories = [createWorkerMemory(), createWorkerMemory()];
  const metrics = new PrometheusText(dnsFamilies(threadCounters(memories)));
  const resolve = new Float64Array(memories[1]!.resolveCounters);
  resolve[answeredSlot(Protocol.tcp, QueryStatus.BLOCKED_LIST)] = 4;
  resolve[latencySlot(100)] = 3;
  resolve[latencySlot(20_000_000)] = 1;
  resolve[Counter.RESPONSE_TIME_US] = 20_000_300;
  const answer = new Float64Array(memories[0]!.answerCounters);
  answer[answeredSlot(Protocol.udp, QueryStatus.CACHED)] = 9;
  answer[Counter.FORMAT_ERRORS] = 2;
  answer[Counter.RECEIVE_BATCHES] = 5;
  answer[Counter.REFUSED_CLIENTS] = 6;
  const scraped = new ScrapedMetrics(await metrics.text());
  const told = scraped.samples.filter(({ name, value }) => value !== 0 && !name.endsWith('_bucket'));
  const resolving = { thread: 'resolve', worker: '1' };
  const answering = { thread: 'answer', worker: '0' };
  expect(told).toEqual([
    { name: 'weir_dns_queries_total', labels: { ...answering, protocol: 'udp', status: 'CACHED' }, value: 9 },
    {
      name: 'weir_dns_queries_total',
      labels: { ...resolving, protocol: 'tcp', status: 'BLOCKED_LIST' },
      value: 4,
    },
    { name: 'weir_dns_response_seconds_sum', labels: resolving, value: 20.0003 },
    { name: 'weir_dns_response_seconds_count', labels: resolving, value: 4 },
    { name: 'weir_dns_faults_total', labels: { ...answering, reason: 'format_error' }, value: 2 },
    { name: 'weir_dns_refused_clients_total', labels: answering, value: 6 },
    { name: 'weir_dns_receive_batches_total', labels: answering, value: 5 },
  ]);
  const upTo = (le: string): number => scraped.sum('weir_dns_response_seconds_bucket', { ...resolving, le });
  expect([upTo('0.000064'), upTo('0.000128'), upTo('8.388608'), upTo('+Inf')]).toEqual([0, 3, 3, 4]);
});
