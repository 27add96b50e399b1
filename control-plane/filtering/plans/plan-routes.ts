/** HTTP routes of `{api}/group-plans`. A plan is changed in one revision, which can be rolled back as a whole. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  GroupPlan,
  GroupPlanBody,
  GroupPlanCreateBody,
  GroupPlanList,
} from '../../../shared/api/policy/schedules-api.ts';
import { invalid } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { ChangeRequest, Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { changedClients, releaseClients } from '../../clients/devices/client-store.ts';
import { deleteGroup, insertGroup, readGroup, updateGroup } from '../../clients/groups/group-store.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { ServiceCatalog } from '../services/service-catalog.ts';
import { findCustom } from '../services/service-store.ts';
import { deleteUnusedProfiles, listPlans as readAll, profilesOf, readPlan, writePlan } from './plan-store.ts';

const plan = entity({
  path: '/group-plans/{id}',
  params: IdParams,
  answer: GroupPlan,
  body: GroupPlanBody,
  read: (db, { id }) => readPlan(db, id),
});

interface PlanContext {
  readonly database: Database;
  readonly policy: PolicyChanges;
  readonly clients: Pick<ClientDirectory, 'takeOver'>;
  readonly catalog: Pick<ServiceCatalog, 'get'>;
}

export function planRoutes(context: PlanContext): Route[] {
  return [
    listPlans(context),
    createPlan(context),
    readOnePlan(context),
    changePlan(context),
    deletePlan(context),
  ];
}

function listPlans({ database }: PlanContext): Route {
  return route({
    method: 'GET',
    path: '/group-plans',
    access: 'viewer',
    tag: 'Groups',
    summary: 'Clients, blocked services and times of all groups',
    answer: GroupPlanList,
    handle: () => readAll(database),
  });
}

function createPlan(context: PlanContext): Route {
  return route({
    method: 'POST',
    path: '/group-plans',
    access: 'admin',
    tag: 'Groups',
    summary: 'Create a group with its clients, blocked services and times',
    body: GroupPlanCreateBody,
    status: 201,
    answer: GroupPlan,
    entity: plan,
    errors: { 409: 'another group has this name' },
    handle: (request) =>
      store(context, request, async (tx) => {
        const group = { name: request.body.name, enabled: true, comment: '', no_ipv6: false };
        return { id: (await insertGroup(tx, group)).id, action: 'created_with_plan' };
      }),
  });
}

function readOnePlan({ database }: PlanContext): Route {
  return route({
    method: 'GET',
    path: '/group-plans/{id}',
    access: 'viewer',
    tag: 'Groups',
    summary: 'Clients, blocked services and times of one group',
    params: IdParams,
    answer: GroupPlan,
    entity: plan,
    handle: ({ params }) => readPlan(database, params.id),
  });
}

function changePlan(context: PlanContext): Route {
  return route({
    method: 'PUT',
    path: '/group-plans/{id}',
    access: 'admin',
    tag: 'Groups',
    summary: 'Replace name, clients, blocked services and times of a group',
    params: IdParams,
    body: GroupPlanBody,
    answer: GroupPlan,
    entity: plan,
    errors: { 409: 'another group has this name' },
    handle: (request) =>
      store(context, request, async (tx) => {
        const { id } = request.params;
        await updateGroup(tx, id, { name: request.body.name });
        return { id, action: 'plan_changed' };
      }),
  });
}

function deletePlan({ policy, clients }: PlanContext): Route {
  return route({
    method: 'DELETE',
    path: '/group-plans/{id}',
    access: 'admin',
    tag: 'Groups',
    summary:
      'Delete a group like `DELETE /groups/{id}` with `cascade`, and its schedule profiles that nothing else uses',
    params: IdParams,
    entity: plan,
    errors: { 409: 'the group is Default, or a list would then apply to every group' },
    handle: async (request) => {
      const { id } = request.params;
      await policy.change(
        authorOf(request),
        async (tx) => {
          const { name } = await readGroup(tx, id);
          const profiles = await profilesOf(tx, id);
          await releaseClients(tx, id);
          await deleteGroup(tx, id, true);
          await deleteUnusedProfiles(tx, profiles);
          const summary = { subject: codedSubject('group', { name }), action: codedAction('deleted') };
          return { result: await changedClients(tx), summary };
        },
        (released, apply) => {
          clients.takeOver(released);
          return apply();
        },
      );
    },
  });
}

/** Stores a plan for the group whose id `prepare` returns. */
async function store(
  { policy, clients, catalog }: PlanContext,
  request: ChangeRequest & { readonly body: GroupPlanBody },
  prepare: (
    tx: Queryable,
  ) => Promise<{ readonly id: number; readonly action: 'created_with_plan' | 'plan_changed' }>,
): Promise<GroupPlan> {
  const { body } = request;
  const changed = await policy.change(
    authorOf(request),
    async (tx) => {
      await checkServices(tx, catalog, body);
      const { id, action } = await prepare(tx);
      await writePlan(tx, id, body);
      const result = { plan: await readPlan(tx, id), moved: await changedClients(tx) };
      const subject = codedSubject('group', { name: body.name });
      return { result, summary: { subject, action: codedAction(action) } };
    },
    ({ moved }, apply) => {
      clients.takeOver(moved);
      return apply();
    },
  );
  return changed.plan;
}

async function checkServices(
  tx: Queryable,
  catalog: Pick<ServiceCatalog, 'get'>,
  { services }: GroupPlanBody,
): Promise<void> {
  const faults = [];
  for (const [index, { service_id: id }] of services.entries())
    if (catalog.get(id) === undefined && (await findCustom(tx, id)) === undefined)
      faults.push({ path: `services.${index}.service_id`, message: 'expected the id of a service' });
  if (faults.length > 0) throw invalid(faults);
}
