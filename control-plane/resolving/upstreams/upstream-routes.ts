/**
 * HTTP routes of `{api}/upstream/health*`, which are answered from memory; of the list of public resolvers in Weir; and
 * for testing servers before they are added to a pool.
 */
import {
  KnownUpstreamList,
  UpstreamDetailList,
  UpstreamHealth,
  UpstreamTestBody,
  UpstreamTestResultList,
} from '../../../shared/api/upstreams-api.ts';
import type { UpstreamReports } from '../../../shared/threads/messages.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { KNOWN_UPSTREAMS } from './known-upstreams.ts';
import { upstreamDetails, upstreamHealth } from './upstream-health.ts';
import type { UpstreamTrials } from './upstream-trials.ts';

/** Provides the reports about upstream servers, one for each worker. */
interface Upstreams {
  upstreams(): readonly UpstreamReports[];
}

const tag = 'Upstreams';

/** The routes of upstream servers. */
export function upstreamRoutes(context: {
  supervisor: Upstreams;
  upstreamTrials: Pick<UpstreamTrials, 'run'>;
}): Route[] {
  const { supervisor, upstreamTrials } = context;
  return [
    readUpstreamHealth(supervisor),
    readUpstreamDetail(supervisor),
    listKnownUpstreams(),
    testUpstreamServers(upstreamTrials),
  ];
}

function readUpstreamHealth(supervisor: Upstreams): Route {
  return route({
    method: 'GET',
    path: '/upstream/health',
    access: 'viewer',
    tag,
    summary: 'State of every upstream server, including the servers of forward zones',
    answer: UpstreamHealth,
    handle: () => upstreamHealth(supervisor.upstreams()),
  });
}

function readUpstreamDetail(supervisor: Upstreams): Route {
  return route({
    method: 'GET',
    path: '/upstream/health/detail',
    access: 'viewer',
    tag,
    summary: 'Every upstream server with its pool or forward zone, latency and failures',
    answer: UpstreamDetailList,
    handle: () => upstreamDetails(supervisor.upstreams()),
  });
}

function listKnownUpstreams(): Route {
  return route({
    method: 'GET',
    path: '/upstream-catalog',
    access: 'viewer',
    tag,
    summary:
      'Public resolvers that users can choose, as shipped with Weir: their servers, and what they filter ' +
      'and log',
    answer: KnownUpstreamList,
    handle: () => [...KNOWN_UPSTREAMS],
  });
}

function testUpstreamServers(trials: Pick<UpstreamTrials, 'run'>): Route {
  return route({
    method: 'POST',
    path: '/upstreams/test',
    access: 'admin',
    tag,
    summary:
      'Test servers before they are added to a pool: whether and how fast they answer a query for the ' +
      'root, and whether they return DNSSEC records. Nothing is stored',
    body: UpstreamTestBody,
    answer: UpstreamTestResultList,
    waits: false,
    handle: ({ body, gone }) => trials.run(body, gone),
  });
}
