/** What the workers know of the upstream servers, put together: counts are added, latencies pooled. */
import type { UpstreamDetail, UpstreamHealth, UpstreamStatus } from '../../shared/api/upstreams.ts';
import type { UpstreamReport } from '../../shared/messages.ts';

/** One line per server and pool, in the order of the configuration. `reports`: one list a worker. */
export function upstreamDetails(reports: readonly (readonly UpstreamReport[])[]): UpstreamDetail[] {
  const byServer = new Map<string, UpstreamReport[]>();
  for (const report of reports.flat()) {
    const key = `${report.poolName}\n${report.address}`;
    const known = byServer.get(key);
    if (known === undefined) byServer.set(key, [report]);
    else known.push(report);
  }
  return [...byServer.values()].map(merge);
}

/** By server; one that stands in several pools is as well as in the best of them. */
export function upstreamHealth(reports: readonly (readonly UpstreamReport[])[]): UpstreamHealth {
  const health: UpstreamHealth = {};
  for (const { address } of reports.flat()) {
    health[address] ??= statusOf(reports.flat().filter((report) => report.address === address));
  }
  return health;
}

function merge(reports: UpstreamReport[]): UpstreamDetail {
  const [first] = reports as [UpstreamReport];
  const sum = (of: (report: UpstreamReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  // Whoever has seen most failures in a row has the newest reason.
  const worst = reports
    .filter(({ lastError }) => lastError !== null)
    .sort((a, b) => b.consecutiveFailures - a.consecutiveFailures)[0];
  return {
    address: first.address,
    protocol: first.transport,
    status: statusOf(reports),
    pool_name: first.poolName,
    strategy: first.strategy,
    latency_ms: summary(reports.flatMap(({ latenciesMs }) => [...latenciesMs])),
    queries: sum(({ queries }) => queries),
    failures: sum(({ failures }) => failures),
    consecutive_failures: Math.max(...reports.map(({ consecutiveFailures }) => consecutiveFailures)),
    last_error: worst?.lastError ?? null,
    resolved: [...new Set(reports.flatMap(({ resolved }) => resolved))],
  };
}

/** A server that answers one worker is there. */
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
