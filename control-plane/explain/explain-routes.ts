/** HTTP of `{api}/explain`. */
import type { ExplainAnswer, ExplainQuery } from '../../shared/api/explain-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import type { RouteRequest } from '../api/route.ts';

/** GET explain */
export function explain(
  context: ApiContext,
  { query }: RouteRequest<unknown, ExplainQuery>,
): Promise<ExplainAnswer> {
  return context.explainer.explain(query);
}
