/** HTTP of the node's state. Only the session lookup may wait for the database. */
import { hostname } from 'node:os';
import type { Health } from '../../shared/api/system-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { callerIfKnown } from '../http/auth-guard.ts';
import type { RouteRequest } from '../api/route.ts';
import { uptimeSecs } from './uptime.ts';

/** GET health: 200 while DNS is answered, else 503. Anonymous callers see states, not names of servers and faults. */
export async function readHealth(context: ApiContext, { http, response }: RouteRequest): Promise<Health> {
  const checks = context.health.checks();
  const isStranger = (await callerIfKnown(context.auth, http)) === null;
  const isWhole = Object.values(checks).every((check) => check.status === 'ok');
  if (checks.dns.status === 'down') response.status(503).setHeader('Retry-After', '5');
  return {
    status: isWhole ? 'ok' : 'degraded',
    version: context.version,
    node: context.nodeName,
    uptime_secs: uptimeSecs(context),
    checks: isStranger ? statesOf(checks) : checks,
  };
}

function statesOf({ dns, database, upstreams, filters }: Health['checks']): Health['checks'] {
  return {
    dns: { status: dns.status },
    database: { status: database.status },
    upstreams: { status: upstreams.status },
    filters: { status: filters.status },
  };
}

/** GET hostname */
export function readHostname(): { hostname: string } {
  return { hostname: hostname() };
}
