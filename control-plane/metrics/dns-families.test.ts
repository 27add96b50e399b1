import { expect, test } from '@jest/globals';
import {
  AnswerSource,
  answeredSlot,
  dnssecSlot,
  latencySlot,
  LimitReason,
  limitSlot,
  rcodeSlot,
  timeSlot,
  typeSlot,
} from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../shared/query-log.ts';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { createWorkerMemory } from '../threads/worker-memory.ts';
import { dnsFamilies } from './dns-families.ts';
import { PrometheusText } from './prometheus-text.ts';
import { threadCounters } from './thread-counters.ts';

test('dnsFamilies() reports the counters of each thread with its labels', async () => {
  const memories = [createWorkerMemory(), createWorkerMemory()];
  const metrics = new PrometheusText(dnsFamilies(threadCounters(memories)));
  const resolve = new Float64Array(memories[1]!.resolveCounters);
  resolve[answeredSlot(Protocol.tcp, QueryStatus.BLOCKED_LIST)] = 4;
  resolve[latencySlot(AnswerSource.UPSTREAM, 100)] = 3;
  resolve[latencySlot(AnswerSource.UPSTREAM, 20_000_000)] = 1;
  resolve[timeSlot(AnswerSource.UPSTREAM)] = 20_000_300;
  resolve[rcodeSlot(Rcode.SERVFAIL, 0)] = 1;
  resolve[rcodeSlot(Rcode.NOERROR, 0)] = 2;
  resolve[typeSlot(65_280)] = 8;
  resolve[dnssecSlot(DnssecStatus.bogus)] = 7;
  const answer = new Float64Array(memories[0]!.answerCounters);
  answer[answeredSlot(Protocol.udp, QueryStatus.CACHED)] = 9;
  answer[rcodeSlot(Rcode.SERVFAIL, 0)] = 10;
  answer[limitSlot(LimitReason.NXDOMAIN)] = 11;
  answer[Counter.FORMAT_ERRORS] = 2;
  answer[Counter.RECEIVE_BATCHES] = 5;
  answer[Counter.REFUSED_CLIENTS] = 6;
  answer[Counter.EXCLUDED_FROM_LOG] = 7;
  answer[Counter.EXCLUDED_FROM_BOTH] = 8;
  const scraped = new ScrapedMetrics(await metrics.text());
  const reported = scraped.samples.filter(({ name, value }) => value !== 0 && !name.endsWith('_bucket'));
  const resolving = { thread: 'resolve', worker: '1' };
  const answering = { thread: 'answer', worker: '0' };
  expect(reported).toEqual([
    { name: 'weir_dns_queries_total', labels: { ...answering, protocol: 'udp', status: 'CACHED' }, value: 9 },
    {
      name: 'weir_dns_queries_total',
      labels: { ...resolving, protocol: 'tcp', status: 'BLOCKED_LIST' },
      value: 4,
    },
    { name: 'weir_dns_response_seconds_sum', labels: { source: 'upstream' }, value: 20.0003 },
    { name: 'weir_dns_response_seconds_count', labels: { source: 'upstream' }, value: 4 },
    { name: 'weir_dns_responses_total', labels: { rcode: 'SERVFAIL' }, value: 11 },
    { name: 'weir_dns_responses_total', labels: { rcode: 'NODATA' }, value: 2 },
    { name: 'weir_dns_questions_total', labels: { type: 'other' }, value: 8 },
    { name: 'weir_dns_validations_total', labels: { status: 'bogus' }, value: 7 },
    { name: 'weir_dns_rate_limited_total', labels: { reason: 'nxdomain' }, value: 11 },
    { name: 'weir_dns_excluded_total', labels: { from: 'log' }, value: 7 },
    { name: 'weir_dns_excluded_total', labels: { from: 'both' }, value: 8 },
    { name: 'weir_dns_faults_total', labels: { ...answering, reason: 'format_error' }, value: 2 },
    { name: 'weir_dns_refused_clients_total', labels: answering, value: 6 },
    { name: 'weir_dns_receive_batches_total', labels: answering, value: 5 },
  ]);
  const upTo = (le: string): number =>
    scraped.sum('weir_dns_response_seconds_bucket', { source: 'upstream', le });
  expect([upTo('0.000064'), upTo('0.000128'), upTo('8.388608'), upTo('+Inf')]).toEqual([0, 3, 3, 4]);
});
