/** HTTP of `{api}/explain`. */
import { ExplainAnswer, ExplainQuery } from '../../shared/api/explain-api.ts';
import type { FieldProblem } from '../../shared/api/problem-details.ts';
import { invalid } from '../api/api-error.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Queryable } from '../db/database.ts';
import type { Explainer } from './explainer.ts';
import { explainLogged, type LoggedExplainerParts } from './logged-explainer.ts';

/** What these rows are made of. */
export interface ExplainRouteParts {
  /** Says what a client would be answered, and why. */
  readonly explainer: Pick<Explainer, 'explain'>;
  /** The same by an earlier generation. */
  readonly past: LoggedExplainerParts['past'];
  /** `server.node_name`. */
  readonly nodeName: string;
  /** Reads a row of the query log. */
  readonly queryLog: { readonly row: LoggedExplainerParts['row'] };
  readonly database: Queryable;
}

/** Rows of explain. */
export function explainRoutes(parts: ExplainRouteParts): Route[] {
  return [explain(parts)];
}

function explain({ explainer, past, nodeName, queryLog, database }: ExplainRouteParts): Route {
  return route({
    method: 'GET',
    path: '/explain',
    access: 'viewer',
    tag: 'Lists',
    summary:
      'What a client would be answered, and why: every stage, rule, list and line; for a row of the query log also ' +
      'what the log says of it, by the policy of its time where that is kept',
    query: ExplainQuery,
    answer: ExplainAnswer,
    errors: { 404: 'there is no such row in the query log' },
    handle: ({ query, gone }) => {
      const { query_id: id, domain, type = 'A', client = '127.0.0.1', client_key: clientKey = '' } = query;
      const faults = faultsOf(query);
      if (faults.length > 0) throw invalid(faults);
      if (id === undefined) return explainer.explain({ domain: domain!, type, client, clientKey });
      const parts = {
        ...{ explainer, past, nodeName, database },
        row: (row: number, signal: AbortSignal) => queryLog.row(row, signal),
      };
      return explainLogged(parts, id, gone);
    },
  });
}

/** Either a row of the log, or a question. */
function faultsOf({ query_id: id, ...question }: ExplainQuery): FieldProblem[] {
  if (id === undefined)
    return question.domain === undefined
      ? [{ path: 'domain', message: 'expected a domain name, or query_id' }]
      : [];
  return Object.entries(question).flatMap(([path, value]) =>
    value === undefined ? [] : { path, message: 'goes without query_id, which names a whole question' },
  );
}
