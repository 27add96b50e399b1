/** HTTP of `{api}/managed-domains`. A change is in the database and in force when the answer is sent. */
import type { IdParams } from '../../shared/api/fields.ts';
import type {
  ManagedDomain,
  ManagedDomainCreate,
  ManagedDomainPage,
  ManagedDomainQuery,
  ManagedDomainUpdate,
} from '../../shared/api/policy/rules-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { createRule, deleteRule, updateRule } from './rule-change.ts';
import { pageRules, MANAGED_DOMAINS, readRule } from './rule-store.ts';
import type { StoredRule } from './rule-store.ts';

/** GET managed-domains */
export async function listManagedDomains(
  { database }: ApiContext,
  { query }: RouteRequest<unknown, ManagedDomainQuery>,
): Promise<ManagedDomainPage> {
  const { rules, total } = await pageRules(database, MANAGED_DOMAINS, query);
  return { data: rules.map(shown), total, limit: query.limit, offset: query.offset };
}

/** GET managed-domains/{id} */
export async function readManagedDomain(
  { database }: ApiContext,
  { params }: RouteRequest<IdParams>,
): Promise<ManagedDomain> {
  return shown(await readRule(database, MANAGED_DOMAINS, params.id));
}

/** POST managed-domains */
export async function createManagedDomain(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, ManagedDomainCreate>,
): Promise<ManagedDomain> {
  const { domain, name, ...fields } = request.body;
  const rule = { ...fields, text: domain, name: name ?? domain.slice(0, 200) };
  return shown(await createRule(context, authorOf(request), MANAGED_DOMAINS, rule));
}

/** PUT managed-domains/{id} */
export async function updateManagedDomain(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, ManagedDomainUpdate>,
): Promise<ManagedDomain> {
  const { domain, ...fields } = request.body;
  const change = { ...fields, text: domain };
  return shown(await updateRule(context, authorOf(request), MANAGED_DOMAINS, request.params.id, change));
}

/** DELETE managed-domains/{id} */
export function deleteManagedDomain(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  return deleteRule(context, authorOf(request), MANAGED_DOMAINS, request.params.id);
}

function shown({ text: domain, ...rule }: StoredRule): ManagedDomain {
  return { ...rule, domain };
}
