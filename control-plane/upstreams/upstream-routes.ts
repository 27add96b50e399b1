/** HTTP of `{api}/upstream/health*`. From memory: asking waits for nothing. */
import type { UpstreamDetail, UpstreamHealth } from '../../shared/api/upstreams-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { upstreamDetails, upstreamHealth } from './upstream-health.ts';

/** GET upstream/health */
export function readUpstreamHealth({ upstreams }: ApiContext): UpstreamHealth {
  return upstreamHealth(upstreams.reports());
}

/** GET upstream/health/detail */
export function readUpstreamDetail({ upstreams }: ApiContext): UpstreamDetail[] {
  return upstreamDetails(upstreams.reports());
}
