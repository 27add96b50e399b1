/** HTTP of the node's state. Only the session lookup may wait for the database. */
import { hostname } from 'node:os';
import { Health, Hostname } from '../../shared/api/system-api.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { callerIfKnown } from '../auth/request-caller.ts';
import { healthOf } from './node-health.ts';
import type { NamedNode } from './node-health.ts';

/** What these rows are made of. */
export interface HealthRouteParts extends NamedNode {
  readonly auth: Authenticator;
  /** State of the node's parts, from memory: asking must never wait for anything. */
  readonly health: { checks(): Health['checks'] };
}

/** Rows of what the node says about itself. */
export function healthRoutes(parts: HealthRouteParts): Route[] {
  return [readHealth(parts), readHostname()];
}

/** 200 while DNS is answered, else 503. Anonymous callers see states, not names of servers and faults. */
function readHealth(parts: HealthRouteParts): Route {
  return route({
    method: 'GET',
    path: '/health',
    access: 'public',
    tag: 'System',
    summary: 'State of this node, with reasons for whoever is signed in; 200 while DNS is answered, else 503',
    answer: Health,
    alsoStatuses: { 503: 'DNS is not answered' },
    handle: async ({ http, response }) => {
      const checks = parts.health.checks();
      const isStranger = (await callerIfKnown(parts.auth, http)) === null;
      if (checks.dns.status === 'down') response.status(503).setHeader('Retry-After', '5');
      return healthOf(parts, isStranger ? statesOf(checks) : checks);
    },
  });
}

function statesOf(checks: Health['checks']): Health['checks'] {
  const { dns, database, upstreams, filters, nodes, clock, access } = checks;
  return {
    dns: { status: dns.status },
    database: { status: database.status },
    upstreams: { status: upstreams.status },
    filters: { status: filters.status },
    nodes: { status: nodes.status },
    clock: { status: clock.status },
    access: { status: access.status },
  };
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
