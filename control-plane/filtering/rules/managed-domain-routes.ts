/** HTTP routes of `{api}/managed-domains`. A change is stored and active when the response is sent. */
import { ManagedDomainBulkAnswer, ManagedDomainBulkBody } from '../../../shared/api/policy/bulk-api.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  ManagedDomain,
  ManagedDomainCreateBody,
  ManagedDomainPage,
  ManagedDomainQuery,
  ManagedDomainUpdateBody,
} from '../../../shared/api/policy/rules-api.ts';
import type { ManagedDomainCreate } from '../../../shared/api/policy/rules-api.ts';
import { entity } from '../../api/entity.ts';
import { BULK_LIMIT_BYTES } from '../../api/row-faults.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { changeRules, createRule, deleteRule, updateRule } from './rule-change.ts';
import { pageRules, MANAGED_DOMAINS, readRule } from './rule-store.ts';
import type { RuleFields, StoredRule } from './rule-store.ts';

const managedDomain = entity({
  path: '/managed-domains/{id}',
  params: IdParams,
  answer: ManagedDomain,
  body: ManagedDomainUpdateBody,
  read: async (db, { id }) => toManagedDomain(await readRule(db, MANAGED_DOMAINS, id)),
});

/** The routes of managed domains. */
export function managedDomainRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listManagedDomains(context.database),
    createManagedDomain(context.policy),
    changeManagedDomains(context.policy),
    readManagedDomain(context.database),
    updateManagedDomain(context.policy),
    deleteManagedDomain(context.policy),
  ];
}

function listManagedDomains(database: Database): Route {
  return route({
    method: 'GET',
    path: '/managed-domains',
    access: 'viewer',
    tag: 'Rules',
    summary: 'A page of the managed domains, oldest first',
    query: ManagedDomainQuery,
    answer: ManagedDomainPage,
    handle: async ({ query }) => {
      const { rules, total } = await pageRules(database, MANAGED_DOMAINS, query);
      return { data: rules.map(toManagedDomain), total, limit: query.limit, offset: query.offset };
    },
  });
}

function readManagedDomain(database: Database): Route {
  return route({
    method: 'GET',
    path: '/managed-domains/{id}',
    access: 'viewer',
    tag: 'Rules',
    summary: 'One managed domain',
    params: IdParams,
    answer: ManagedDomain,
    entity: managedDomain,
    handle: async ({ params }) => toManagedDomain(await readRule(database, MANAGED_DOMAINS, params.id)),
  });
}

function createManagedDomain(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/managed-domains',
    access: 'admin',
    tag: 'Rules',
    summary: 'Allow or deny a domain',
    body: ManagedDomainCreateBody,
    status: 201,
    answer: ManagedDomain,
    entity: managedDomain,
    errors: { 409: 'the rule already exists' },
    handle: async (request) => {
      const rule = ruleOf(request.body);
      return toManagedDomain(await createRule(policy, authorOf(request), MANAGED_DOMAINS, rule));
    },
  });
}

function changeManagedDomains(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/managed-domains/bulk',
    access: 'admin',
    tag: 'Rules',
    summary:
      'Delete and create many managed domains in one revision: either all of these changes are made or ' +
      'none',
    body: ManagedDomainBulkBody,
    bodyLimitBytes: BULK_LIMIT_BYTES,
    answer: ManagedDomainBulkAnswer,
    errors: { 409: 'rules already exist; `errors` names each by its index' },
    handle: async (request) => {
      const { create, delete: deleted } = request.body;
      const batch = { create: create.map(ruleOf), delete: deleted };
      const created = await changeRules(policy, authorOf(request), MANAGED_DOMAINS, batch);
      return { created: created.map(toManagedDomain), deleted };
    },
  });
}

function ruleOf({ domain, name, ...fields }: ManagedDomainCreate): RuleFields {
  return { ...fields, text: domain, name: name ?? domain.slice(0, 200) };
}

function updateManagedDomain(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/managed-domains/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Change a managed domain; absent fields keep their value',
    params: IdParams,
    body: ManagedDomainUpdateBody,
    answer: ManagedDomain,
    entity: managedDomain,
    errors: { 409: 'the rule already exists' },
    handle: async (request) => {
      const { domain, ...fields } = request.body;
      const change = { ...fields, id: request.params.id, text: domain };
      return toManagedDomain(await updateRule(policy, authorOf(request), MANAGED_DOMAINS, change));
    },
  });
}

function deleteManagedDomain(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/managed-domains/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Delete a managed domain',
    params: IdParams,
    entity: managedDomain,
    handle: (request) => deleteRule(policy, authorOf(request), MANAGED_DOMAINS, request.params.id),
  });
}

function toManagedDomain({ text: domain, ...rule }: StoredRule): ManagedDomain {
  return { ...rule, domain };
}
