/** HTTP routes of `{api}/queries/timeline`. */
import { periodMs } from '../../../shared/api/fields.ts';
import { Timeline, TimelineQuery } from '../../../shared/api/stats-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Asked } from '../reading/log-source.ts';
import { spanOf } from '../reading/period-start.ts';
import { granularityOf, type readTimeline } from './timeline.ts';

/** The route of the timeline. */
export function timelineRoutes(context: {
  stats: { timeline: Asked<typeof readTimeline> };
  clock: Clock;
}): Route[] {
  const { stats, clock } = context;
  return [
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
