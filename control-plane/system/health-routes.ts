/** HTTP of what the node says about itself. Nothing here waits for the database. */
import { hostname } from 'node:os';
import type { Health } from '../../shared/api/system.ts';
import type { ApiContext } from '../http/api-context.ts';
import type { RouteRequest } from '../http/route.ts';
import { uptimeSecs } from './uptime.ts';

/** GET health: 200 while DNS is answered, else 503. */
export function readHealth(context: ApiContext, { response }: RouteRequest): Health {
  const checks = context.health.checks();
  const isWhole = Object.values(checks).every((check) => check.status === 'ok');
  if (checks.dns.status === 'down') response.status(503).setHeader('Retry-After', '5');
  return {
    status: isWhole ? 'ok' : 'degraded',
    version: context.version,
    node: context.nodeName,
    uptime_secs: uptimeSecs(context),
    checks,
  };
}

/** GET hostname */
export function readHostname(): { hostname: string } {
  return { hostname: hostname() };
}
