/** Reads all statistics of the dashboard from one consistent state of the log. */
import type { Timeline } from '../../../shared/api/stats-api.ts';
import type { LogSource } from '../reading/log-source.ts';
import {
  type CacheUse,
  cacheUse,
  type ClientCount,
  type DomainCount,
  type LoggedSummary,
  readSums,
  summarize,
  topClients,
  topDomains,
} from './stats-store.ts';
import { readAllCounts, timelineOf, type TimelineRequest } from './timeline.ts';

/** Number of lines of each top list. */
const TOP = 10;

/** Logged statistics of a period. */
export interface LoggedDashboard {
  readonly summary: LoggedSummary;
  readonly cache: CacheUse;
  readonly timeline: Timeline;
  readonly topBlocked: DomainCount[];
  readonly topDomains: DomainCount[];
  readonly topClients: readonly ClientCount[];
}

/** Statistics of the span of a timeline. */
export async function readDashboard(log: LogSource, request: TimelineRequest): Promise<LoggedDashboard> {
  return log.read(async (tx) => {
    const counts = await readAllCounts(tx, request);
    const sums = await readSums(tx, request, log.onDamaged);
    const timeline = timelineOf(request, counts, sums.cleared);
    return {
      summary: summarize(sums),
      cache: cacheUse(sums.counts),
      timeline,
      topBlocked: topDomains(sums.names, 'blocked', TOP),
      topDomains: topDomains(sums.names, 'allowed', TOP),
      topClients: topClients(sums.clients, TOP),
    };
  });
}
