/** Reads all figures of the dashboard over one state of the log. */
import type { LogSource } from '../query-log/reading/log-source.ts';
import type { Bucket } from './counts-reader.ts';
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
import { readTimelineCounts, type TimelineRequest } from './timeline-store.ts';

/** Lines of each top list. */
const TOP = 10;

/** What the log says of a period. */
export interface LoggedDashboard {
  readonly summary: LoggedSummary;
  readonly cache: CacheUse;
  /** Of `timelineOf()`. */
  readonly timeline: readonly Bucket[];
  readonly topBlocked: readonly DomainCount[];
  readonly topDomains: readonly DomainCount[];
  readonly topClients: readonly ClientCount[];
}

/** Figures of the span of a timeline. */
export async function readDashboard(log: LogSource, request: TimelineRequest): Promise<LoggedDashboard> {
  return log.read(async (tx) => {
    const timeline = await readTimelineCounts(tx, request);
    const sums = await readSums(tx, request, log.onDamaged);
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
