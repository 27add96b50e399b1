/** HTTP of `{api}/explain`. */
import type { ExplainAnswer, ExplainQuery } from '../../shared/api/explain.ts';
import type { ApiContext } from '../http/api-context.ts';
import type { RouteRequest } from '../http/route.ts';

/** GET explain */
export function explain(
  context: ApiContext,
  { query }: RouteRequest<unknown, ExplainQuery>,
): Promise<ExplainAnswer> {
  return context.explainer.explain(query);
}
