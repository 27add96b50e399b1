/**
 * The routes of everything that decides what is blocked: lists, rules that people write, services, and the
 * revisions of all of it. Part of `route-table.ts`, whose head says what a row means.
 */
import { CompiledListQuery, CompiledRulePage } from '../../shared/api/policy/compiled-lists-api.ts';
import { ExplainAnswer, ExplainQuery } from '../../shared/api/explain-api.ts';
import { IdParams } from '../../shared/api/fields.ts';
import { Revision, RevisionList } from '../../shared/api/revisions-api.ts';
import {
  ManagedDomain,
  ManagedDomainCreateBody,
  ManagedDomainPage,
  ManagedDomainQuery,
  ManagedDomainUpdateBody,
  RegexFilter,
  RegexFilterCreateBody,
  RegexFilterList,
  RegexFilterUpdateBody,
} from '../../shared/api/policy/rules-api.ts';
import {
  BlocklistSource,
  BlocklistSourceList,
  SourceCreateBody,
  SourceUpdateBody,
  UnusedLineList,
} from '../../shared/api/policy/sources-api.ts';
import { BlockFilterStats } from '../../shared/api/stats-api.ts';
import { explain } from '../explain/explain-routes.ts';
import { readAllowlist, readBlocklist } from '../lists/compiled/compiled-list-routes.ts';
import { sourceHandlers } from '../lists/sources/source-routes.ts';
import type { SourceKind } from '../../shared/policy/source-kind.ts';
import * as revisions from '../revisions/revision-routes.ts';
import * as managed from '../rules/managed-domain-routes.ts';
import * as regexes from '../rules/regex-filter-routes.ts';
import * as stats from '../stats/stats-routes.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { serviceRoutes } from './service-route-table.ts';

/** Rows of one path of sources; `noun` is one of them. */
// eslint-disable-next-line max-lines-per-function -- a table: a row each
function sourceRoutes(path: string, kind: SourceKind, noun: string): Route[] {
  const sources = sourceHandlers(kind);
  const tag = 'Lists';
  return [
    route({
      method: 'GET',
      path,
      access: 'viewer',
      tag,
      summary: `All ${noun}s`,
      answer: BlocklistSourceList,
      handle: sources.list,
    }),
    route({
      method: 'POST',
      path,
      access: 'admin',
      tag,
      summary: `Create a ${noun}; its first fetch starts at once`,
      body: SourceCreateBody,
      status: 201,
      answer: BlocklistSource,
      errors: { 409: 'the URL is taken' },
      handle: sources.create,
    }),
    route({
      method: 'POST',
      path: `${path}/refresh`,
      access: 'admin',
      tag,
      summary: `Fetch every enabled ${noun} now`,
      status: 202,
      answer: BlocklistSourceList,
      handle: sources.refreshAll,
    }),
    route({
      method: 'GET',
      path: `${path}/{id}`,
      access: 'viewer',
      tag,
      summary: `One ${noun}`,
      params: IdParams,
      answer: BlocklistSource,
      handle: sources.read,
    }),
    route({
      method: 'PUT',
      path: `${path}/{id}`,
      access: 'admin',
      tag,
      summary: `Change a ${noun}; absent fields keep their value`,
      params: IdParams,
      body: SourceUpdateBody,
      answer: BlocklistSource,
      errors: { 409: 'the URL is taken' },
      handle: sources.update,
    }),
    route({
      method: 'DELETE',
      path: `${path}/{id}`,
      access: 'admin',
      tag,
      summary: `Delete a ${noun}; its rules are out of force at once`,
      params: IdParams,
      handle: sources.remove,
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/refresh`,
      access: 'admin',
      tag,
      summary: `Fetch a ${noun} now`,
      params: IdParams,
      status: 202,
      answer: BlocklistSource,
      handle: sources.refresh,
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/approve`,
      access: 'admin',
      tag,
      summary: `Put the held copy of a ${noun} into force`,
      params: IdParams,
      answer: BlocklistSource,
      errors: { 409: 'no copy is held' },
      handle: sources.approve,
    }),
    route({
      method: 'GET',
      path: `${path}/{id}/unused-lines`,
      access: 'viewer',
      tag,
      summary: `The first lines of a ${noun} that made no rule, invalid ones first`,
      params: IdParams,
      answer: UnusedLineList,
      handle: sources.unusedLines,
    }),
  ];
}

/** Rows of the rules in force of one list, at each of its paths. */
function compiledListRoutes(): Route[] {
  const row = (path: string, summary: string, handle: typeof readBlocklist): Route =>
    route({
      method: 'GET',
      path,
      access: 'viewer',
      tag: 'Lists',
      summary,
      query: CompiledListQuery,
      answer: CompiledRulePage,
      handle,
    });
  return [
    row('/blocklist', 'The rules in force that block, with the sources of each', readBlocklist),
    row('/allowlist', 'The rules in force that allow, with the sources of each', readAllowlist),
    row('/whitelist', 'The same as /allowlist', readAllowlist),
  ];
}

export const filterRoutes: readonly Route[] = [
  ...sourceRoutes('/blocklist-sources', 'block', 'blocklist source'),
  ...sourceRoutes('/allowlist-sources', 'allow', 'allowlist source'),
  ...sourceRoutes('/whitelist-sources', 'allow', 'allowlist source'),
  ...compiledListRoutes(),
  route({
    method: 'GET',
    path: '/explain',
    access: 'viewer',
    tag: 'Lists',
    summary: 'What a client would be answered, and why: every stage, rule, list and line',
    query: ExplainQuery,
    answer: ExplainAnswer,
    handle: explain,
  }),
  route({
    method: 'GET',
    path: '/block-filter/stats',
    access: 'viewer',
    tag: 'Lists',
    summary: 'Size and age of the compiled filter in force',
    answer: BlockFilterStats,
    handle: stats.readBlockFilterStats,
  }),

  route({
    method: 'GET',
    path: '/managed-domains',
    access: 'viewer',
    tag: 'Rules',
    summary: 'A page of the managed domains, oldest first',
    query: ManagedDomainQuery,
    answer: ManagedDomainPage,
    handle: managed.listManagedDomains,
  }),
  route({
    method: 'POST',
    path: '/managed-domains',
    access: 'admin',
    tag: 'Rules',
    summary: 'Allow or deny a domain',
    body: ManagedDomainCreateBody,
    status: 201,
    answer: ManagedDomain,
    errors: { 409: 'the rule exists already' },
    handle: managed.createManagedDomain,
  }),
  route({
    method: 'GET',
    path: '/managed-domains/{id}',
    access: 'viewer',
    tag: 'Rules',
    summary: 'One managed domain',
    params: IdParams,
    answer: ManagedDomain,
    handle: managed.readManagedDomain,
  }),
  route({
    method: 'PUT',
    path: '/managed-domains/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Change a managed domain; absent fields keep their value',
    params: IdParams,
    body: ManagedDomainUpdateBody,
    answer: ManagedDomain,
    errors: { 409: 'the rule exists already' },
    handle: managed.updateManagedDomain,
  }),
  route({
    method: 'DELETE',
    path: '/managed-domains/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Delete a managed domain',
    params: IdParams,
    handle: managed.deleteManagedDomain,
  }),

  route({
    method: 'GET',
    path: '/regex-filters',
    access: 'viewer',
    tag: 'Rules',
    summary: 'All regex filters',
    answer: RegexFilterList,
    handle: regexes.listRegexFilters,
  }),
  route({
    method: 'POST',
    path: '/regex-filters',
    access: 'admin',
    tag: 'Rules',
    summary: 'Allow or deny the names that a regular expression matches',
    body: RegexFilterCreateBody,
    status: 201,
    answer: RegexFilter,
    errors: { 409: 'the rule exists already' },
    handle: regexes.createRegexFilter,
  }),
  route({
    method: 'GET',
    path: '/regex-filters/{id}',
    access: 'viewer',
    tag: 'Rules',
    summary: 'One regex filter',
    params: IdParams,
    answer: RegexFilter,
    handle: regexes.readRegexFilter,
  }),
  route({
    method: 'PUT',
    path: '/regex-filters/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Change a regex filter; absent fields keep their value',
    params: IdParams,
    body: RegexFilterUpdateBody,
    answer: RegexFilter,
    errors: { 409: 'the rule exists already' },
    handle: regexes.updateRegexFilter,
  }),
  route({
    method: 'DELETE',
    path: '/regex-filters/{id}',
    access: 'admin',
    tag: 'Rules',
    summary: 'Delete a regex filter',
    params: IdParams,
    handle: regexes.deleteRegexFilter,
  }),

  ...serviceRoutes,

  route({
    method: 'GET',
    path: '/revisions',
    access: 'viewer',
    tag: 'Revisions',
    summary: 'Changes of policy and lists, newest first',
    answer: RevisionList,
    handle: revisions.listRevisions,
  }),
  route({
    method: 'POST',
    path: '/revisions/{id}/rollback',
    access: 'admin',
    tag: 'Revisions',
    summary: 'Make the policy and lists of a revision those in force; this is itself a revision',
    params: IdParams,
    answer: Revision,
    errors: { 409: 'too old, or something made since is in the way' },
    handle: revisions.rollBackTo,
  }),
];
