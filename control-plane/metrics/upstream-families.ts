/** Metrics of the upstream servers, from the last reports of the resolve threads. */
import type { UpstreamDetail } from '../../shared/api/upstreams-api.ts';
import type { UpstreamLatency, UpstreamName } from '../resolving/upstreams/upstream-health.ts';
import { TIME_BOUNDS } from './dns-families.ts';
import { type Family, family, type HistogramFamily, type Labels, type Sample } from './family.ts';

const LABELS = ['server', 'pool', 'kind'] as const;

/** Readers for the values of these metrics. */
export interface UpstreamReads {
  readonly details: () => readonly UpstreamDetail[];
  readonly latencies: () => readonly UpstreamLatency[];
}

/** Families of the reports; label `kind` distinguishes a pool from a forward zone with the same name. */
export function upstreamFamilies({ details: read, latencies }: UpstreamReads): (Family | HistogramFamily)[] {
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
    family('gauge', 'weir_upstream_healthy', '1 = healthy, 0 = unhealthy; absent while unknown', LABELS, () =>
      read().filter(isKnown).map(healthOf),
    ),
    {
      type: 'histogram',
      name: 'weir_upstream_latency_seconds',
      help: 'Time from a query until the response of a server, including health checks',
      bounds: TIME_BOUNDS,
      read: () =>
        latencies().map(({ server, counts, sumMs }) => ({
          labels: labelsOf(server),
          counts,
          sum: sumMs / 1000,
        })),
    },
  ];
}

function labelsOf({ address, pool_name: pool, kind }: UpstreamName): Labels {
  return { server: address, pool, kind };
}

function isKnown({ status }: UpstreamDetail): boolean {
  return status !== 'Unknown';
}

function healthOf(upstream: UpstreamDetail): Sample {
  return { labels: labelsOf(upstream), value: upstream.status === 'Healthy' ? 1 : 0 };
}
