/** HTTP routes of `{api}/queries/timeline` and `{api}/stats/client_timeline`. */
import { periodMs } from '../../../shared/api/fields.ts';
import {
  ClientTimeline,
  ClientTimelineQuery,
  Timeline,
  TimelineQuery,
} from '../../../shared/api/stats-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { AbortableReader } from '../reading/log-source.ts';
import { spanOf } from '../reading/period-start.ts';
import type { ClientNames } from './client-names.ts';
import type { LoggedClientTimeline, readClientTimeline } from './client-timeline.ts';
import { granularityOf, type readTimeline } from './timeline.ts';

interface TimelineReader {
  readonly timeline: AbortableReader<typeof readTimeline>;
  readonly clientTimeline: AbortableReader<typeof readClientTimeline>;
}

/** The routes of the timelines. */
export function timelineRoutes(context: {
  stats: TimelineReader;
  clock: Clock;
  clients: ClientNames;
}): Route[] {
  const { stats, clock, clients } = context;
  return [
    route({
      method: 'GET',
      path: '/stats/client_timeline',
      access: 'viewer',
      tag: 'Statistics',
      summary: 'Queries of the busiest clients by time',
      query: ClientTimelineQuery,
      answer: ClientTimeline,
      handle: async ({ query: { period, granularity: wanted, timezone, ...which }, gone }) => {
        const granularity = granularityOf(periodMs(period)!, wanted);
        const span = spanOf(clock.nowMs(), periodMs(period)!);
        const counted = await stats.clientTimeline({ ...which, ...span, granularity, timezone }, gone);
        return { granularity, timezone, ...toClientTimeline(counted, clients) };
      },
    }),
    route({
      method: 'GET',
      path: '/queries/timeline',
      access: 'viewer',
      tag: 'Statistics',
      summary: 'Queries of a period over time, for all clients or for one client, network or group',
      query: TimelineQuery,
      answer: Timeline,
      handle: ({ query: { period, granularity: wanted, ...which }, gone }) => {
        const granularity = granularityOf(periodMs(period)!, wanted);
        const request = { ...which, ...spanOf(clock.nowMs(), periodMs(period)!), granularity };
        return stats.timeline(request, gone);
      },
    }),
  ];
}

function toClientTimeline(
  { cleared, startsMs, clients: counted, others }: LoggedClientTimeline,
  names: ClientNames,
): Pick<ClientTimeline, 'log_cleared' | 'clients' | 'buckets'> {
  return {
    log_cleared: cleared,
    clients: counted.map(({ ip, clientId, total }) => ({
      ip_address: ip,
      hostname: names.nameAt(ip, clientId),
      client_id: clientId,
      total,
    })),
    buckets: startsMs.map((startMs, bucket) => ({
      timestamp: new Date(startMs).toISOString(),
      counts: counted.map(({ counts }) => counts[bucket]!),
      others: others[bucket]!,
    })),
  };
}
