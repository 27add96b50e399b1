/** Merges the workers' reports about the upstream servers: adds counts, and combines the distributions of latencies. */
import type {
  UpstreamDetail,
  UpstreamFinding,
  UpstreamHealth,
  UpstreamStatus,
} from '../../../shared/api/upstreams-api.ts';
import type { LatencyCounts, UpstreamReport, UpstreamReports } from '../../../shared/threads/messages.ts';

/**
 * One row per server and pool, in the order of the configuration; then one per server and forward zone, which `kind`
 * distinguishes from a pool with the same name. `reports` contains one element per worker.
 */
export function upstreamDetails(reports: readonly UpstreamReports[]): UpstreamDetail[] {
  return [
    ...detailsOf(
      'pool',
      reports.flatMap(({ pools }) => pools),
    ),
    ...detailsOf(
      'forward_zone',
      reports.flatMap(({ zones }) => zones),
    ),
  ];
}

/** Identifies a row of `upstreamDetails()`. */
export type UpstreamName = Pick<UpstreamDetail, 'address' | 'pool_name' | 'kind'>;

/** The latencies of a server in a pool or zone, over all workers. */
export interface UpstreamLatency extends LatencyCounts {
  readonly server: UpstreamName;
}

/** The distributions of latencies for the same rows as `upstreamDetails()`. */
export function upstreamLatencies(reports: readonly UpstreamReports[]): UpstreamLatency[] {
  return [
    ...latenciesOf(
      'pool',
      reports.flatMap(({ pools }) => pools),
    ),
    ...latenciesOf(
      'forward_zone',
      reports.flatMap(({ zones }) => zones),
    ),
  ];
}

/**
 * Health of each server. If a server is in several pools or zones, the best state is used. A server's answers for a
 * zone do not affect its state in a pool.
 */
export function upstreamHealth(reports: readonly UpstreamReports[]): UpstreamHealth {
  const ofZones = healthOf(reports.flatMap(({ zones }) => zones));
  const ofPools = healthOf(reports.flatMap(({ pools }) => pools));
  return { ...ofZones, ...ofPools };
}

function detailsOf(kind: UpstreamDetail['kind'], reports: readonly UpstreamReport[]): UpstreamDetail[] {
  return byServer(reports).map((group) => merge(kind, group));
}

function latenciesOf(kind: UpstreamDetail['kind'], reports: readonly UpstreamReport[]): UpstreamLatency[] {
  return byServer(reports).map((group) => ({
    server: { address: group[0].address, pool_name: group[0].poolName, kind },
    counts: group[0].latencyCounts.counts.map((_, index) =>
      group.reduce((sum, { latencyCounts }) => sum + latencyCounts.counts[index]!, 0),
    ),
    sumMs: group.reduce((sum, { latencyCounts }) => sum + latencyCounts.sumMs, 0),
  }));
}

/** The reports of each server in each pool, in the order of the configuration. */
function byServer(reports: readonly UpstreamReport[]): [UpstreamReport, ...UpstreamReport[]][] {
  const groups = Map.groupBy(reports, ({ poolName, address }) => `${poolName}\n${address}`);
  return [...groups.values()] as [UpstreamReport, ...UpstreamReport[]][];
}

function healthOf(reports: readonly UpstreamReport[]): UpstreamHealth {
  const groups = Map.groupBy(reports, ({ address }) => address);
  return Object.fromEntries([...groups].map(([address, group]) => [address, statusOf(group)]));
}

function merge(kind: UpstreamDetail['kind'], reports: [UpstreamReport, ...UpstreamReport[]]): UpstreamDetail {
  const [first] = reports;
  const sum = (of: (report: UpstreamReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  // The error is that of the worker with the most consecutive failures, which is the latest one.
  const worst = reports
    .filter(({ lastError }) => lastError !== null)
    .sort((a, b) => b.consecutiveFailures - a.consecutiveFailures)[0];
  return {
    address: first.address,
    protocol: first.transport,
    status: statusOf(reports),
    pool_name: first.poolName,
    kind,
    strategy: first.strategy,
    latency_ms: summary(reports.flatMap(({ latenciesMs }) => [...latenciesMs])),
    queries: sum(({ queries }) => queries),
    failures: sum(({ failures }) => failures),
    consecutive_failures: Math.max(...reports.map(({ consecutiveFailures }) => consecutiveFailures)),
    last_error: worst?.lastError ?? null,
    resolved: [...new Set(reports.flatMap(({ resolved }) => resolved))],
    supports: supportOf(reports),
    removes_signatures: reports.some(({ removesSignatures }) => removesSignatures),
  };
}

/** For each feature, the first known result of a worker; workers that have not queried the server yet have none. */
function supportOf(reports: readonly UpstreamReport[]): UpstreamDetail['supports'] {
  const finding = (feature: 'edns' | 'cookies' | 'case' | 'tcp'): UpstreamFinding =>
    reports.map(({ supports }) => supports[feature]).find((found) => found !== 'unknown') ?? 'unknown';
  const answers = reports
    .map(({ supports }) => supports.answersPerConnection)
    .filter((count) => count !== null);
  return {
    edns: finding('edns'),
    cookies: finding('cookies'),
    case: finding('case'),
    tcp: finding('tcp'),
    answers_per_connection: answers.length === 0 ? null : Math.min(...answers),
  };
}

/** Merges states: a server is up if at least one worker gets responses. */
function statusOf(reports: readonly UpstreamReport[]): UpstreamStatus {
  const statuses = new Set(reports.map(({ status }) => status));
  return (['Healthy', 'Unhealthy', 'Unknown'] as const).find((status) => statuses.has(status)) ?? 'Unknown';
}

function summary(latenciesMs: number[]): UpstreamDetail['latency_ms'] {
  if (latenciesMs.length === 0) return null;
  const sorted = latenciesMs.sort((a, b) => a - b);
  const rank = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  const avg = sorted.reduce((total, ms) => total + ms, 0) / sorted.length;
  return { avg: toMicroseconds(avg), p50: toMicroseconds(rank(0.5)), p95: toMicroseconds(rank(0.95)) };
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
