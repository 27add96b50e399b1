/**
 * HTTP routes of `{api}/grants`. A change is stored and active when the response is sent; active grants are read from
 * memory, so that they are available without a database.
 */
import { codedAction, codedSubject, codedWord } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import { Grant, GrantCreateBody, GrantList, MAX_UNTIL_MS } from '../../../shared/api/policy/grants-api.ts';
import type { GrantCreate } from '../../../shared/api/policy/grants-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { invalid, notFound } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { clientsOf } from '../../api/route-access.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { PolicyGrant } from '../../policy/change/rows.ts';
import { activeGrant, holdLink, isOwn, refuseEnding, refuseNewGrant } from './family-grants.ts';
import { deleteGrant, insertGrant, readGrant } from './grant-store.ts';
import type { NewGrant, StoredGrant } from './grant-store.ts';
import { namedService } from '../services/named-service.ts';
import type { ServiceCatalog } from '../services/service-catalog.ts';

const grantEntity = entity({
  path: '/grants/{id}',
  params: IdParams,
  answer: Grant,
  body: GrantCreateBody,
  read: async (db, { id }) => auditedGrant(await readGrant(db, id)),
});

export function grantRoutes(context: {
  policy: PolicyChanges;
  clock: Clock;
  grants: () => readonly PolicyGrant[];
  catalog: Pick<ServiceCatalog, 'get'>;
}): Route[] {
  return [
    listGrants(context.clock, context.grants),
    readOneGrant(context.clock, context.grants),
    createGrant(context.policy, context.clock, context.catalog),
    endGrant(context.policy, context.grants),
  ];
}

function listGrants(clock: Clock, grants: () => readonly PolicyGrant[]): Route {
  return route({
    method: 'GET',
    path: '/grants',
    access: 'member',
    tag: 'Grants',
    summary: 'Active grants, earliest end first; the role family only gets those of linked clients',
    answer: GrantList,
    handle: ({ caller }) =>
      grants()
        .filter((grant) => isOwn(grant, clientsOf(caller)))
        .toSorted((a, b) => endOf(a) - endOf(b) || a.id - b.id)
        .map((grant) => toApiGrant(grant, clock)),
  });
}

function readOneGrant(clock: Clock, grants: () => readonly PolicyGrant[]): Route {
  return route({
    method: 'GET',
    path: '/grants/{id}',
    access: 'member',
    tag: 'Grants',
    summary: 'One active grant',
    params: IdParams,
    answer: Grant,
    entity: grantEntity,
    handle: ({ params, caller }) => toApiGrant(activeGrant(grants(), params.id, caller), clock),
  });
}

function createGrant(policy: PolicyChanges, clock: Clock, catalog: Pick<ServiceCatalog, 'get'>): Route {
  return route({
    method: 'POST',
    path: '/grants',
    access: 'family',
    tag: 'Grants',
    summary:
      'Allow or block a name, a service or everything for a client, a group or everyone; the role family only for a linked client and for at most 36 hours',
    body: GrantCreateBody,
    status: 201,
    answer: Grant,
    entity: grantEntity,
    errors: { 409: 'the maximum number of grants is reached' },
    handle: async (request) => {
      const { body, caller } = request;
      const times = timesOf(body, clock);
      const own = clientsOf(caller);
      if (own !== null) refuseNewGrant({ clientId: body.client_id, ...times }, own);
      const actor = authorOf(request);
      const grant = await policy.change(actor, async (tx) => {
        if (own !== null) await holdLink(tx, caller, body.client_id!);
        const { service_id: serviceId } = body;
        const service = serviceId === null ? undefined : await namedService(tx, catalog, serviceId);
        const stored = await insertGrant(tx, { ...body, ...times });
        const result = service === undefined ? stored : { ...stored, service };
        await recordAudit(tx, {
          actor,
          action: codedAction('created'),
          subject: subjectOf(result),
          after: auditedGrant(result),
        });
        return { result, summary: null };
      });
      return toApiGrant(grant, clock);
    },
  });
}

function endGrant(policy: PolicyChanges, grants: () => readonly PolicyGrant[]): Route {
  return route({
    method: 'DELETE',
    path: '/grants/{id}',
    access: 'family',
    tag: 'Grants',
    summary: 'End a grant now; the role family can only end grants of linked clients that have an end time',
    params: IdParams,
    entity: grantEntity,
    handle: async (request) => {
      const { params, caller } = request;
      const own = clientsOf(caller);
      if (own !== null) refuseEnding(activeGrant(grants(), params.id, caller));
      const actor = authorOf(request);
      await policy.change(actor, async (tx) => {
        const result = await deleteGrant(tx, params.id);
        if (own !== null) {
          if (result.clientId === null) throw notFound(`grant ${params.id}`);
          await holdLink(tx, caller, result.clientId);
        }
        await recordAudit(tx, {
          actor,
          action: codedAction('deleted'),
          subject: subjectOf(result),
          before: auditedGrant(result),
        });
        return { result, summary: null };
      });
    },
  });
}

/** The start (now) and the end of a grant; throws 400 if the end is not in the future, or is more than a year away. */
function timesOf({ secs, until }: GrantCreate, clock: Clock): Pick<NewGrant, 'createdMs' | 'untilMs'> {
  const createdMs = clock.nowMs();
  if (secs === null && until === null) return { createdMs, untilMs: null };
  const untilMs = until === null ? createdMs + secs! * 1000 : Date.parse(until);
  if (untilMs > createdMs && untilMs - createdMs <= MAX_UNTIL_MS) return { createdMs, untilMs };
  throw invalid([{ path: 'until', message: 'expected a time in the future, within a year' }]);
}

function toApiGrant(grant: StoredGrant, clock: Clock): Grant {
  const { untilMs } = grant;
  const secsLeft = untilMs === null ? null : Math.max(0, Math.ceil((untilMs - clock.nowMs()) / 1000));
  return { ...auditedGrant(grant), service_name: grant.service?.serviceName ?? null, secs_left: secsLeft };
}

function endOf({ untilMs }: StoredGrant): number {
  return untilMs ?? Number.MAX_SAFE_INTEGER;
}

/** Description of a grant for the audit log. */
function subjectOf({ id, action, domain, serviceId, clientId, groupId }: StoredGrant): CodedSubject {
  const group = groupId === null ? codedWord('everyone') : codedWord('group', { name: groupId });
  const scope = clientId === null ? group : codedWord('client', { name: clientId });
  const names = domain ?? codedWord('every_name');
  const target = serviceId === undefined ? names : codedWord('service', { name: serviceId });
  return codedSubject('grant', { id, action: codedWord(action), target, scope });
}

function auditedGrant(grant: StoredGrant): Omit<Grant, 'secs_left' | 'service_name'> {
  return {
    id: grant.id,
    domain: grant.domain,
    service_id: grant.serviceId ?? null,
    subdomains: grant.subdomains,
    client_id: grant.clientId,
    group_id: grant.groupId,
    action: grant.action,
    until: grant.untilMs === null ? null : new Date(grant.untilMs).toISOString(),
    created_at: new Date(grant.createdMs).toISOString(),
  };
}
