/** HTTP of `{api}/blocklist` and `{api}/allowlist`. */
import type { CompiledListQuery, CompiledRulePage } from '../../../shared/api/policy/compiled-lists-api.ts';
import type { ApiContext } from '../../api/api-context.ts';
import type { RouteRequest } from '../../api/route.ts';

type Query = RouteRequest<unknown, CompiledListQuery>;

/** GET blocklist */
export function readBlocklist({ compiledLists }: ApiContext, { query }: Query): Promise<CompiledRulePage> {
  return compiledLists.page('block', query);
}

/** GET allowlist and whitelist */
export function readAllowlist({ compiledLists }: ApiContext, { query }: Query): Promise<CompiledRulePage> {
  return compiledLists.page('allow', query);
}
