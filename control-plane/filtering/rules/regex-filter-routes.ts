/** HTTP routes of `{api}/regex-filters`. A change is stored and active when the answer is sent. */
import { IdParams } from '../../../shared/api/fields.ts';
import {
  RegexFilter,
  RegexFilterCreateBody,
  RegexFilterList,
  RegexFilterUpdateBody,
} from '../../../shared/api/policy/rules-api.ts';
import { invalid } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { newlyRefusedFilters } from './filter-budget.ts';
import { type GuardChange, createRule, deleteRule, updateRule } from './rule-change.ts';
import { listRules, REGEX_FILTERS, readRule } from './rule-store.ts';
import type { StoredRule } from './rule-store.ts';

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
      const { pattern, name, ...fields } = request.body;
      const rule = { ...fields, text: pattern, name: name ?? pattern.slice(0, 200) };
      return toRegexFilter(
        await createRule(policy, authorOf(request), REGEX_FILTERS, rule, keepingAllInForce),
      );
    },
  });
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
        await updateRule(policy, authorOf(request), REGEX_FILTERS, change, keepingAllInForce),
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

/** 400 if a change would exceed the budget and make any filter inactive. */
const keepingAllInForce: GuardChange = async (tx, work) => {
  const before = new Set((await newlyRefusedFilters(tx, new Set())).map(({ id }) => id));
  const rule = await work();
  // The rule itself may have been inactive before.
  before.delete(rule.id);
  const [refused] = await newlyRefusedFilters(tx, before);
  if (refused === undefined) return rule;
  const message = `\`${refused.pattern}\` cannot be used with the other enabled filters: ${refused.reason}`;
  throw invalid([{ path: 'pattern', message }]);
};

function toRegexFilter({ text: pattern, ...rule }: StoredRule): RegexFilter {
  return { ...rule, pattern };
}
