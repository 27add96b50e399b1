/** HTTP of `{api}/upstream/health*`. From memory: asking waits for nothing. */
import { UpstreamDetailList, UpstreamHealth } from '../../../shared/api/upstreams-api.ts';
import type { UpstreamReports } from '../../../shared/threads/messages.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { upstreamDetails, upstreamHealth } from './upstream-health.ts';

/** The upstream servers as each worker sees them, one entry per worker. */
interface Upstreams {
  upstreams(): readonly UpstreamReports[];
}

/** Rows of upstream servers. */
export function upstreamRoutes({ supervisor }: { supervisor: Upstreams }): Route[] {
  return [readUpstreamHealth(supervisor), readUpstreamDetail(supervisor)];
}

function readUpstreamHealth(supervisor: Upstreams): Route {
  return route({
    method: 'GET',
    path: '/upstream/health',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'State of every upstream server, those of forward zones too',
    answer: UpstreamHealth,
    handle: () => upstreamHealth(supervisor.upstreams()),
  });
}

function readUpstreamDetail(supervisor: Upstreams): Route {
  return route({
    method: 'GET',
    path: '/upstream/health/detail',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'Every upstream server with its pool or forward zone, latency and failures',
    answer: UpstreamDetailList,
    handle: () => upstreamDetails(supervisor.upstreams()),
  });
}
