/**
 * HTTP routes of `{api}/unblock-requests`: requests of devices to unblock a name, for the users who may unblock it. A
 * user of the role family can read and close requests of linked devices. To unblock a name, the dashboard creates a
 * grant or a rule, and then closes the request.
 */
import { codedAction } from '../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import { UnblockRequest, UnblockRequestList } from '../../../shared/api/unblocking/unblock-requests-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { notFound } from '../../api/api-error.ts';
import type { Caller } from '../../api/caller.ts';
import { readOnlyEntity } from '../../api/entity.ts';
import { clientsOf } from '../../api/route-access.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database } from '../../storage/db/database.ts';
import { holdLink } from '../grants/family-grants.ts';
import { auditedRequest, subjectOf } from './audited-request.ts';
import { closeRequest, readOpen, REQUEST_LIFE_MS } from './request-store.ts';
import type { StoredRequest } from './request-store.ts';

interface RequestContext {
  readonly database: Database;
  readonly clients: Pick<ClientDirectory, 'get' | 'partsOf' | 'groupOf'>;
  readonly clock: Clock;
}

const requestEntity = readOnlyEntity({ path: '/unblock-requests/{id}', answer: UnblockRequest });

export function unblockRequestRoutes(context: RequestContext): Route[] {
  return [listRequests(context), readRequest(context), dismissRequest(context)];
}

function listRequests(context: RequestContext): Route {
  return route({
    method: 'GET',
    path: '/unblock-requests',
    access: 'member',
    tag: 'Grants',
    summary:
      'Open requests of devices to unblock a name, the oldest first; the role family only gets those of ' +
      'linked devices',
    answer: UnblockRequestList,
    handle: ({ caller }) => visibleRequests(caller, context),
  });
}

function readRequest(context: RequestContext): Route {
  return route({
    method: 'GET',
    path: '/unblock-requests/{id}',
    access: 'member',
    tag: 'Grants',
    summary: 'One open request of a device to unblock a name',
    params: IdParams,
    answer: UnblockRequest,
    entity: requestEntity,
    handle: async ({ params, caller }) => {
      const found = (await visibleRequests(caller, context)).find(({ id }) => id === params.id);
      if (found === undefined) throw notFound(`unblock request ${params.id}`);
      return found;
    },
  });
}

function dismissRequest(context: RequestContext): Route {
  const { database, clock } = context;
  return route({
    method: 'DELETE',
    path: '/unblock-requests/{id}',
    access: 'family',
    tag: 'Grants',
    summary:
      'Close a request of a device to unblock a name; the role family can only close those of linked ' +
      'devices',
    params: IdParams,
    entity: requestEntity,
    handle: async (request) => {
      const { params, caller } = request;
      const actor = authorOf(request);
      const own = clientsOf(caller);
      await database.transaction(async (tx) => {
        await actor.precondition?.(tx);
        const closed = await closeRequest(tx, params.id, clock.nowMs());
        if (own !== null) {
          const clientId = mainIdOf(closed, context);
          if (!own.has(clientId)) throw notFound(`unblock request ${params.id}`);
          await holdLink(tx, caller, clientId);
        }
        const audited = { actor, subject: subjectOf(closed), action: codedAction('closed') };
        await recordAudit(tx, { ...audited, before: auditedRequest(closed) });
      });
    },
  });
}

/** The open requests that a caller may see. */
async function visibleRequests(caller: Caller | null, context: RequestContext): Promise<UnblockRequest[]> {
  const own = clientsOf(caller);
  const open = await readOpen(context.database, context.clock.nowMs());
  return open
    .map((request) => toApiRequest(request, context))
    .filter(({ client_id: id }) => own === null || own.has(id));
}

/** Id of the device of a request; the device may have been merged into another one since the request. */
function mainIdOf({ clientId }: StoredRequest, { clients }: RequestContext): number {
  const record = clients.get(clientId);
  return (record && clients.partsOf(record)[0]?.id) ?? clientId;
}

function toApiRequest(request: StoredRequest, context: RequestContext): UnblockRequest {
  const { id, domain, createdMs } = request;
  const { clients } = context;
  const clientId = mainIdOf(request, context);
  const record = clients.get(clientId);
  const known = record && (record.name ?? record.hostname ?? record.ip ?? record.key ?? record.mac);
  return {
    id,
    domain,
    client_id: clientId,
    client_name: known ?? `client ${clientId}`,
    group_id: record === undefined ? 1 : clients.groupOf(record).groupId,
    created_at: new Date(createdMs).toISOString(),
    expires_at: new Date(createdMs + REQUEST_LIFE_MS).toISOString(),
  };
}
