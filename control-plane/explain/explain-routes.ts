/** HTTP of `{api}/explain`. */
import { ExplainAnswer, ExplainQuery } from '../../shared/api/explain-api.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Explainer } from './explainer.ts';

/** What these rows are made of. */
export interface ExplainRouteParts {
  /** Says what a client would be answered, and why. */
  readonly explainer: Pick<Explainer, 'explain'>;
}

/** Rows of explain. */
export function explainRoutes(parts: ExplainRouteParts): Route[] {
  return [explain(parts)];
}

function explain(parts: ExplainRouteParts): Route {
  return route({
    method: 'GET',
    path: '/explain',
    access: 'viewer',
    tag: 'Lists',
    summary: 'What a client would be answered, and why: every stage, rule, list and line',
    query: ExplainQuery,
    answer: ExplainAnswer,
    handle: ({ query }) => parts.explainer.explain(query),
  });
}
