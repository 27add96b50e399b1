/**
 * HTTP of `{api}/probes`: the check that a device uses this node. Public, as whoever is to find out has no account: a
 * probe is read by an id that cannot be guessed, and tells only how its own name was asked.
 */
import { Probe, ProbeParams } from '../../shared/api/probes-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { notFound, overloaded } from '../api/api-error.ts';
import { clientAddress } from '../api/client-address.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Probe as KeptProbe, Probes } from './probes.ts';
import { RequestBudget } from './request-budget.ts';

/** What these rows are made of. */
export interface ProbeRouteParts {
  readonly probes: Probes;
  readonly clock: Clock;
  /** `server.node_name`. */
  readonly nodeName: string;
}

/** Requests of one network in a minute. */
const CREATED_A_MINUTE = 30;
const READ_A_MINUTE = 1200;
/** Seconds after which one of too many probes has ended, perhaps. */
const RETRY_SECS = 30;

/** Rows of probes. */
export function probeRoutes(parts: ProbeRouteParts): Route[] {
  return [createProbe(parts), readProbe(parts)];
}

function createProbe({ probes, clock, nodeName }: ProbeRouteParts): Route {
  const budget = new RequestBudget(clock, CREATED_A_MINUTE);
  return route({
    method: 'POST',
    path: '/probes',
    access: 'public',
    tag: 'Probes',
    summary: 'Make a name to be asked once by a device, which shows whether it uses this node',
    status: 201,
    answer: Probe,
    errors: { 429: 'too many requests of this network', 503: 'there are too many probes' },
    handle: ({ http }) => {
      budget.spend(clientAddress(http));
      const probe = probes.create();
      if (probe === null) throw overloaded('there are too many probes', RETRY_SECS);
      return shownProbe(probe, nodeName);
    },
  });
}

function readProbe({ probes, clock, nodeName }: ProbeRouteParts): Route {
  const budget = new RequestBudget(clock, READ_A_MINUTE);
  return route({
    method: 'GET',
    path: '/probes/{probe_id}',
    access: 'public',
    tag: 'Probes',
    summary: 'Whether, when, by which address and how the name was asked; for five minutes',
    params: ProbeParams,
    answer: Probe,
    errors: { 429: 'too many requests of this network' },
    handle: ({ http, params }) => {
      budget.spend(clientAddress(http));
      const probe = probes.get(params.probe_id);
      if (probe === undefined) throw notFound('this probe');
      return shownProbe(probe, nodeName);
    },
  });
}

function shownProbe({ id, name, createdMs, expiresMs, first, queries }: KeptProbe, node: string): Probe {
  return {
    id,
    name,
    node,
    created_at: new Date(createdMs).toISOString(),
    expires_at: new Date(expiresMs).toISOString(),
    asked: first !== null,
    asked_at: first === null ? null : new Date(first.askedMs).toISOString(),
    client: first?.client ?? null,
    protocol: first?.protocol ?? null,
    queries,
  };
}
