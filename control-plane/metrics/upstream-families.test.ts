import { expect, test } from '@jest/globals';
import type { UpstreamDetail } from '../../shared/api/upstreams-api.ts';
import { LATENCY_CLASSES, latencyClass } from '../../shared/memory/answer-counters.ts';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { PrometheusText } from './prometheus-text.ts';
import { upstreamFamilies } from './upstream-families.ts';

const SERVER: UpstreamDetail = {
  address: 'udp://192.0.2.1',
  protocol: 'udp',
  status: 'Healthy',
  pool_name: 'main',
  kind: 'pool',
  strategy: 'Fastest',
  latency_ms: { avg: 3, p50: 2, p95: 9 },
  queries: 100,
  failures: 7,
  consecutive_failures: 0,
  last_error: null,
  resolved: [],
  supports: {
    edns: 'unknown',
    cookies: 'unknown',
    case: 'unknown',
    tcp: 'unknown',
    answers_per_connection: null,
  },
  removes_signatures: false,
};

test('upstreamFamilies() reports each server of each pool and zone', async () => {
  const dead: UpstreamDetail = { ...SERVER, kind: 'forward_zone', status: 'Unhealthy', latency_ms: null };
  const unknown: UpstreamDetail = { ...dead, address: 'udp://192.0.2.2', status: 'Unknown', queries: 0 };
  const counts = Array<number>(LATENCY_CLASSES).fill(0);
  counts[latencyClass(3000)] = 2;
  const metrics = new PrometheusText(
    upstreamFamilies({
      details: () => [SERVER, dead, unknown],
      latencies: () => [{ server: SERVER, counts, sumMs: 7 }],
    }),
  );
  const scraped = new ScrapedMetrics(await metrics.text());
  const of = { server: 'udp://192.0.2.1', pool: 'main', kind: 'pool' };
  const ofZone = { ...of, kind: 'forward_zone' };
  expect(scraped.sum('weir_upstream_queries_total', of)).toBe(100);
  expect(scraped.sum('weir_upstream_failures_total', of)).toBe(7);
  expect(scraped.find('weir_upstream_healthy')).toEqual([
    { name: 'weir_upstream_healthy', labels: of, value: 1 },
    { name: 'weir_upstream_healthy', labels: ofZone, value: 0 },
  ]);
  const upTo = (le: string): number => scraped.sum('weir_upstream_latency_seconds_bucket', { ...of, le });
  expect([upTo('0.002048'), upTo('0.004096'), upTo('+Inf')]).toEqual([0, 2, 2]);
  expect(scraped.sum('weir_upstream_latency_seconds_sum', of)).toBe(0.007);
});
