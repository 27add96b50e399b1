/** HTTP of `{api}/upstream/health*`. From memory: asking waits for nothing. */
import { UpstreamDetailList, UpstreamHealth } from '../../shared/api/upstreams-api.ts';
import type { UpstreamReports } from '../../shared/threads/messages.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { upstreamDetails, upstreamHealth } from './upstream-health.ts';

/** What these rows are made of. */
export interface UpstreamRouteParts {
  /** The upstream servers as each worker sees them, one entry per worker, from memory. */
  readonly upstreams: { reports(): readonly UpstreamReports[] };
}

/** Rows of upstream servers. */
export function upstreamRoutes(parts: UpstreamRouteParts): Route[] {
  return [readUpstreamHealth(parts), readUpstreamDetail(parts)];
}

function readUpstreamHealth({ upstreams }: UpstreamRouteParts): Route {
  return route({
    method: 'GET',
    path: '/upstream/health',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'State of every upstream server, those of forward zones too',
    answer: UpstreamHealth,
    handle: () => upstreamHealth(upstreams.reports()),
  });
}

function readUpstreamDetail({ upstreams }: UpstreamRouteParts): Route {
  return route({
    method: 'GET',
    path: '/upstream/health/detail',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'Every upstream server with its pool or forward zone, latency and failures',
    answer: UpstreamDetailList,
    handle: () => upstreamDetails(upstreams.reports()),
  });
}
