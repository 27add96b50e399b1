/** HTTP routes of `{api}/regex-filters`. A change is stored and active when the response is sent. */
import { lineReason } from '../../../shared/policy/reasons/line-reasons.ts';
import { RegexFilterBulkAnswer, RegexFilterBulkBody } from '../../../shared/api/policy/bulk-api.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  RegexFilter,
  RegexFilterCreateBody,
  RegexFilterList,
  RegexFilterUpdateBody,
} from '../../../shared/api/policy/rules-api.ts';
import type { RegexFilterCreate } from '../../../shared/api/policy/rules-api.ts';
import { invalid } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { newlyRefusedFilters } from './filter-budget.ts';
import { type GuardChange, changeRules, createRule, deleteRule, updateRule } from './rule-change.ts';
import { listRules, REGEX_FILTERS, readRule } from './rule-store.ts';
import type { RuleFields, StoredRule } from './rule-store.ts';

const regexFilter = entity({
  path: '/regex-filters/{id}',
  params: IdParams,
  answer: RegexFilter,
  body: RegexFilterUpdateBody,
  read: async (db, { id }) => toRegexFilter(await readRule(db, REGEX_FILTERS, id)),
});

/** The routes of regex filters. */
export function regexFilterRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listRegexFilters(context.database),
    createRegexFilter(context.policy),
    changeRegexFilters(context.policy),
    readRegexFilter(context.database),
    updateRegexFilter(context.policy),
    deleteRegexFilter(context.policy),
  ];
}

function listRegexFilters(database: Database): Route {
  return route({
    method: 'GET',
    path: '/regex-filters',
    access: 'viewer',
    tag: 'Rules',
    summary: 'All regex filters',
    answer: RegexFilterList,
    handle: async () => (await listRules(database, REGEX_FILTERS)).map(toRegexFilter),
  });
}

function readRegexFilter(database: Database): Route {
  return route({
    method: 'GET',
    path: '/regex-filters/{id}',
    access: 'viewer',
    tag: 'Rules',
    summary: 'One regex filter',
    params: IdParams,
    answer: RegexFilter,
    entity: regexFilter,
    handle: async ({ params }) => toRegexFilter(await readRule(database, REGEX_FILTERS, params.id)),
  });
}

function createRegexFilter(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/regex-filters',
    access: 'admin',
    tag: 'Rules',
    summary: 'Allow or deny the names that a regular expression matches',
    body: RegexFilterCreateBody,
    status: 201,
    answer: RegexFilter,
    entity: regexFilter,
    errors: { 409: 'the rule already exists' },
    handle: async (request) => {
      const rule = ruleOf(request.body);
      return toRegexFilter(
        await createRule(policy, authorOf(request), REGEX_FILTERS, rule, keepingAllActive),
      );
    },
  });
}

function changeRegexFilters(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/regex-filters/bulk',
    access: 'admin',
    tag: 'Rules',
    summary:
      'Delete and create several regex filters in one revision: either all of these changes are made or ' +
      'none',
    body: RegexFilterBulkBody,
    answer: RegexFilterBulkAnswer,
    errors: { 409: 'rules already exist; `errors` names each by its index' },
    handle: async (request) => {
      const { create, delete: deleted } = request.body;
      const batch = { create: create.map(ruleOf), delete: deleted };
      const created = await changeRules(policy, authorOf(request), REGEX_FILTERS, batch, keepingAllActive);
      return { created: created.map(toRegexFilter), deleted };
    },
  });
}

function ruleOf({ pattern, name, ...fields }: RegexFilterCreate): RuleFields {
  return { ...fields, text: pattern, name: name ?? pattern.slice(0, 200) };
}

function updateRegexFilter(policy: PolicyChanges): Route {
  return route({
    method: 'PUT',
    path: '/regex-filters/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Change a regex filter; absent fields keep their value',
    params: IdParams,
    body: RegexFilterUpdateBody,
    answer: RegexFilter,
    entity: regexFilter,
    errors: { 409: 'the rule already exists' },
    handle: async (request) => {
      const { pattern, ...fields } = request.body;
      const change = { ...fields, id: request.params.id, text: pattern };
      return toRegexFilter(
        await updateRule(policy, authorOf(request), REGEX_FILTERS, change, keepingAllActive),
      );
    },
  });
}

function deleteRegexFilter(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: '/regex-filters/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Delete a regex filter',
    params: IdParams,
    entity: regexFilter,
    handle: (request) => deleteRule(policy, authorOf(request), REGEX_FILTERS, request.params.id),
  });
}

/** Makes a change; throws 400 if a filter would then be inactive, because the budget is exceeded. */
const keepingAllActive: GuardChange = async (tx, work) => {
  const before = new Set((await newlyRefusedFilters(tx, new Set())).map(({ id }) => id));
  const changed = await work();
  const result: StoredRule | StoredRule[] = changed;
  const rules = [result].flat();
  // The changed rules must be active, even if they were inactive before the change.
  for (const { id } of rules) before.delete(id);
  const [refused] = await newlyRefusedFilters(tx, before);
  if (refused === undefined) return changed;
  const message = lineReason('with_filters', refused);
  const index = rules.findIndex(({ id }) => id === refused.id);
  const path = !Array.isArray(changed) ? 'pattern' : index === -1 ? 'create' : `create.${index}.pattern`;
  throw invalid([{ path, message }]);
};

function toRegexFilter({ text: pattern, ...rule }: StoredRule): RegexFilter {
  return { ...rule, pattern };
}
