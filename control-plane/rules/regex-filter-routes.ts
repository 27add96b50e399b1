/** HTTP of `{api}/regex-filters`. A change is in the database and in force when the answer is sent. */
import type { IdParams } from '../../shared/api/fields.ts';
import type { RegexFilter, RegexFilterCreate, RegexFilterUpdate } from '../../shared/api/rules.ts';
import type { ApiContext } from '../http/api-context.ts';
import { authorOf } from '../http/route.ts';
import type { RouteRequest } from '../http/route.ts';
import { createRule, deleteRule, updateRule } from './rule-change.ts';
import { listRules, REGEX_FILTERS, readRule } from './rule-store.ts';
import type { StoredRule } from './rule-store.ts';

/** GET regex-filters */
export async function listRegexFilters({ database }: ApiContext): Promise<RegexFilter[]> {
  return (await listRules(database, REGEX_FILTERS)).map(shown);
}

/** GET regex-filters/{id} */
export async function readRegexFilter(
  { database }: ApiContext,
  { params }: RouteRequest<IdParams>,
): Promise<RegexFilter> {
  return shown(await readRule(database, REGEX_FILTERS, params.id));
}

/** POST regex-filters */
export async function createRegexFilter(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, RegexFilterCreate>,
): Promise<RegexFilter> {
  const { pattern, name, ...fields } = request.body;
  const rule = { ...fields, text: pattern, name: name ?? pattern.slice(0, 200) };
  return shown(await createRule(context, authorOf(request), REGEX_FILTERS, rule));
}

/** PUT regex-filters/{id} */
export async function updateRegexFilter(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, RegexFilterUpdate>,
): Promise<RegexFilter> {
  const { pattern, ...fields } = request.body;
  const change = { ...fields, text: pattern };
  return shown(await updateRule(context, authorOf(request), REGEX_FILTERS, request.params.id, change));
}

/** DELETE regex-filters/{id} */
export function deleteRegexFilter(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  return deleteRule(context, authorOf(request), REGEX_FILTERS, request.params.id);
}

function shown({ text: pattern, ...rule }: StoredRule): RegexFilter {
  return { ...rule, pattern };
}
