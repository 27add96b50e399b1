/** HTTP of `{api}/regex-filters`. A change is in the database and in force when the answer is sent. */
import type { IdParams } from '../../shared/api/fields.ts';
import type { RegexFilter, RegexFilterCreate, RegexFilterUpdate } from '../../shared/api/policy/rules-api.ts';
import { invalid } from '../api/api-error.ts';
import type { Queryable } from '../db/database.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { type RefusedFilter, findRefusedFilters } from '../snapshot/build/manual-rules.ts';
import { type GuardChange, createRule, deleteRule, updateRule } from './rule-change.ts';
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
  return shown(
    await createRule({ ...context, guard: keepingAllInForce }, authorOf(request), REGEX_FILTERS, rule),
  );
}

/** PUT regex-filters/{id} */
export async function updateRegexFilter(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, RegexFilterUpdate>,
): Promise<RegexFilter> {
  const { pattern, ...fields } = request.body;
  const change = { ...fields, text: pattern };
  const parts = { ...context, guard: keepingAllInForce };
  return shown(await updateRule(parts, authorOf(request), REGEX_FILTERS, request.params.id, change));
}

/** DELETE regex-filters/{id} */
export function deleteRegexFilter(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  return deleteRule(context, authorOf(request), REGEX_FILTERS, request.params.id);
}

/** 400 if a change would exceed the budget and put any filter out of force. */
const keepingAllInForce: GuardChange = async (tx, work) => {
  const before = new Set((await refusedFilters(tx)).map(({ id }) => id));
  const rule = await work();
  const refused = (await refusedFilters(tx)).find(({ id }) => id === rule.id || !before.has(id));
  if (refused === undefined) return rule;
  const message = `with the filters that are enabled, \`${refused.pattern}\` cannot be in force: ${refused.reason}`;
  throw invalid([{ path: 'pattern', message }]);
};

async function refusedFilters(tx: Queryable): Promise<readonly RefusedFilter[]> {
  const enabled = (await listRules(tx, REGEX_FILTERS)).filter((rule) => rule.enabled);
  return findRefusedFilters(
    enabled.map(({ id, name, text, action, group_id: groupId }) => {
      return { id, name, pattern: text, action, groupId };
    }),
  );
}

function shown({ text: pattern, ...rule }: StoredRule): RegexFilter {
  return { ...rule, pattern };
}
