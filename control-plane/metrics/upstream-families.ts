/** Metrics of the upstream servers, as the resolve threads last reported them. */
import type { UpstreamDetail } from '../../shared/api/upstreams-api.ts';
import { type Family, family, type Labels, type Sample } from './family.ts';

const LABELS = ['server', 'pool', 'kind'] as const;
const PERCENTILES = { 50: 'p50', 95: 'p95' } as const;

/** Families over the reports; `kind` tells a pool from a forward zone of the same name. */
export function upstreamFamilies(read: () => readonly UpstreamDetail[]): Family[] {
  const each = (value: (upstream: UpstreamDetail) => number) => (): Sample[] =>
    read().map((upstream) => ({ labels: labelsOf(upstream), value: value(upstream) }));
  return [
    family(
      'counter',
      'weir_upstream_queries_total',
      'Questions sent',
      LABELS,
      each(({ queries }) => queries),
    ),
    family(
      'counter',
      'weir_upstream_failures_total',
      'Questions without a usable answer',
      LABELS,
      each(({ failures }) => failures),
    ),
    family(
      'gauge',
      'weir_upstream_healthy',
      '1 = healthy, 0 = unhealthy; nothing while it is not known',
      LABELS,
      () => read().filter(isKnown).map(healthOf),
    ),
    family(
      'gauge',
      'weir_upstream_latency_seconds',
      'Latency of the last answers',
      [...LABELS, 'percentile'],
      () => read().flatMap(latenciesOf),
    ),
  ];
}

function labelsOf({ address, pool_name: pool, kind }: UpstreamDetail): Labels {
  return { server: address, pool, kind };
}

function isKnown({ status }: UpstreamDetail): boolean {
  return status !== 'Unknown';
}

function healthOf(upstream: UpstreamDetail): Sample {
  return { labels: labelsOf(upstream), value: upstream.status === 'Healthy' ? 1 : 0 };
}

function latenciesOf(upstream: UpstreamDetail): Sample[] {
  const { latency_ms: latency } = upstream;
  if (latency === null) return [];
  return Object.entries(PERCENTILES).map(([percentile, name]) => ({
    labels: { ...labelsOf(upstream), percentile },
    value: latency[name] / 1000,
  }));
}
