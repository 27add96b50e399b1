/** HTTP routes of the node's state. Only the lookup of the session may wait for the database. */
import { hostname } from 'node:os';
import { Health, Hostname } from '../../../shared/api/system-api.ts';
import { mayCall } from '../../api/route-access.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Authenticator } from '../../web/auth/authenticator.ts';
import { callerIfKnown } from '../../web/auth/request-caller.ts';
import { healthOf } from './node-health.ts';
import type { NamedNode } from './node-health.ts';

/** Routes for the state of the node itself. */
export function healthRoutes(
  context: NamedNode & {
    auth: Authenticator;
    /** Runs the checks from memory; they must never wait. */
    health: { checks(): Health['checks'] };
  },
): Route[] {
  // Status 200 if DNS is answered, or 503. Callers without the right to read all data get states, but no names of
  // servers and no descriptions of faults.
  const readHealth = route({
    method: 'GET',
    path: '/health',
    access: 'public',
    tag: 'System',
    summary:
      'Health of this node, with details for viewers and admins; 200 while the node answers DNS queries, ' +
      'otherwise 503',
    answer: Health,
    alsoStatuses: { 503: 'DNS queries are not answered' },
    handle: async ({ http, response }) => {
      const checks = context.health.checks();
      const isStranger = !mayCall(await callerIfKnown(context.auth, http), 'viewer');
      if (checks.dns.status === 'down') response.status(503).setHeader('Retry-After', '5');
      return healthOf(context, isStranger ? statesOf(checks) : checks);
    },
  });
  return [readHealth, readHostname()];
}

function statesOf(checks: Health['checks']): Health['checks'] {
  const states = Object.entries(checks).map(([name, { status }]) => [name, { status }]);
  return Object.fromEntries(states) as Health['checks'];
}

function readHostname(): Route {
  return route({
    method: 'GET',
    path: '/hostname',
    access: 'viewer',
    tag: 'System',
    summary: 'Host name of this machine',
    answer: Hostname,
    handle: () => ({ hostname: hostname() }),
  });
}
