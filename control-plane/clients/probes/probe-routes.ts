/**
 * HTTP routes of probes, which check whether a device uses this node: `{api}/probes` for users, and the same routes
 * under `/check` for people without an account. Under `/check`, the id of a probe cannot be guessed, a probe only shows
 * how its own name was queried, and the number of requests from each network is limited.
 */
import type { Request } from 'express';
import { Probe, ProbeParams } from '../../../shared/api/probes-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Access } from '../../api/route-access.ts';
import { notFound, overloaded } from '../../api/api-error.ts';
import { clientAddress } from '../../api/client-address.ts';
import { readOnlyEntity } from '../../api/entity.ts';
import { RequestLimit } from '../../api/request-limit.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import type { Probe as KeptProbe, Probes } from './probes.ts';

/** Dependencies of both kinds of routes. */
interface ProbeContext {
  readonly probes: Probes;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly clients: Pick<ClientDirectory, 'nameAt'>;
}

/**
 * Required access and request limit of one kind of routes. `spend` counts a request; it throws 429 if the limit is
 * exceeded.
 */
interface Door {
  readonly access: Access;
  readonly spend: (http: Request) => void;
}

/** Maximum number of requests from one network per minute. */
const CREATED_PER_MINUTE = 60;
const READS_PER_MINUTE = 1200;
/** Seconds after which a client may try again if there are too many probes. */
const RETRY_SECS = 30;

const unlimited = (): void => undefined;

const probeEntity = readOnlyEntity({
  path: '/probes/{probe_id}',
  answer: Probe,
  placeOf: ({ id }) => ({ probe_id: id }),
});

/** The routes for users with an account. */
export function probeRoutes(context: ProbeContext): Route[] {
  return [
    createProbe(context, { access: 'admin', spend: unlimited }),
    readProbe(context, { access: 'viewer', spend: unlimited }),
  ];
}

/** Routes below the page `/check`. */
export function publicProbeRoutes(context: ProbeContext): Route[] {
  const doorOf = (aMinute: number): Door => {
    const limit = new RequestLimit(context.clock, { perSecond: aMinute / 60, burst: aMinute });
    return { access: 'public', spend: (http) => limit.spend(clientAddress(http)) };
  };
  return [createProbe(context, doorOf(CREATED_PER_MINUTE)), readProbe(context, doorOf(READS_PER_MINUTE))];
}

function createProbe(context: ProbeContext, { access, spend }: Door): Route {
  const { probes } = context;
  return route({
    method: 'POST',
    path: '/probes',
    access,
    tag: 'Probes',
    summary:
      'Create a probe: a name that a device queries once, which shows whether the device uses this node',
    status: 201,
    answer: Probe,
    entity: probeEntity,
    waits: false,
    errors: { 503: 'there are too many probes' },
    handle: ({ http }) => {
      spend(http);
      const probe = probes.create();
      if (probe === null) throw overloaded('there are too many probes', RETRY_SECS);
      return toApiProbe(probe, context, access);
    },
  });
}

function readProbe(context: ProbeContext, { access, spend }: Door): Route {
  const { probes } = context;
  return route({
    method: 'GET',
    path: '/probes/{probe_id}',
    access,
    tag: 'Probes',
    summary:
      'Whether, when, from which address and how the name of a probe was queried; available for five ' +
      'minutes',
    params: ProbeParams,
    answer: Probe,
    entity: probeEntity,
    handle: ({ http, params }) => {
      spend(http);
      const probe = probes.get(params.probe_id);
      if (probe === undefined) throw notFound('this probe');
      return toApiProbe(probe, context, access);
    },
  });
}

function toApiProbe(
  { id, name, createdMs, expiresMs, first, askers, queries }: KeptProbe,
  { nodeName: node, clients }: ProbeContext,
  access: Access,
): Probe {
  const isRevealed = first !== null && access !== 'public';
  return {
    id,
    name,
    node,
    created_at: new Date(createdMs).toISOString(),
    expires_at: new Date(expiresMs).toISOString(),
    asked: first !== null,
    asked_at: first === null ? null : new Date(first.askedMs).toISOString(),
    client: first?.client ?? null,
    client_hostname: isRevealed ? clients.nameAt(first.client) : null,
    protocol: first?.protocol ?? null,
    askers: [...askers],
    queries,
  };
}
