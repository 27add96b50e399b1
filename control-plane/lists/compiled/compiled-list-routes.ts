/** HTTP routes of `{api}/blocklist` and `{api}/allowlist`: the active rules, for browsing. */
import { CompiledListQuery, CompiledRulePage } from '../../../shared/api/policy/compiled-lists-api.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { CompiledLists } from './compiled-lists.ts';

/** Routes for the active rules of all lists. */
export function compiledListRoutes(context: { compiledLists: Pick<CompiledLists, 'page'> }): Route[] {
  const { compiledLists } = context;
  const row = (path: string, kind: SourceKind, summary: string): Route =>
    route({
      method: 'GET',
      path,
      access: 'viewer',
      tag: 'Lists',
      summary,
      query: CompiledListQuery,
      answer: CompiledRulePage,
      handle: ({ query }) => compiledLists.page(kind, query),
    });
  return [
    row('/blocklist', 'block', 'The active blocking rules, with the sources of each'),
    row('/allowlist', 'allow', 'The active allow rules, with the sources of each'),
    row('/whitelist', 'allow', 'The same as /allowlist'),
  ];
}
