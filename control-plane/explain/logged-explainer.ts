/**
 * Explains a row of the query log: the question once more, by the policy in force, with what the log says of the row and
 * whether rules and lists have changed since. Where they have, the log's own words are all that is known of that time.
 */
import type { ExplainAnswer, LoggedThen } from '../../shared/api/explain-api.ts';
import type { LoggedQuery } from '../../shared/api/query-log-api.ts';
import { notFound } from '../api/api-error.ts';
import type { Queryable } from '../db/database.ts';
import { revisionsAt } from '../policy/revision-store.ts';
import type { Explainer } from './explainer.ts';

/** Parts of it. */
export interface LoggedExplainerParts {
  readonly explainer: Pick<Explainer, 'explain'>;
  readonly row: (id: number, signal: AbortSignal) => Promise<LoggedQuery | null>;
  readonly database: Queryable;
}

/** A revision is in force on every node some seconds after it was stored, at the latest. */
const SETTLED_MS = 6000;

/** The answer to a logged query, as it would be now. @throws {ApiError} 404 for a row that is not there */
export async function explainLogged(
  { explainer, row, database }: LoggedExplainerParts,
  id: number,
  signal: AbortSignal,
): Promise<ExplainAnswer> {
  const logged = await row(id, signal);
  if (logged === null) throw notFound(`query ${id}`);
  const { timestamp, status, block_source: blockSource, block_rule: blockRule } = logged;
  const before = await revisionsAt(database, new Date(timestamp));
  const { domain, type, client } = logged;
  const explained = await explainer.explain({ domain, type, client });
  const after = await revisionsAt(database, new Date(timestamp));
  const reason =
    before.now === after.now ? reasonOf(after, timestamp) : 'policy was changed while this was explained';
  const then: LoggedThen = {
    ...{ query_id: id, timestamp, status, block_source: blockSource, block_rule: blockRule },
    ...{ revision: after.then, current_revision: after.now, exact: reason === null, reason },
  };
  return { logged: then, ...explained };
}

function reasonOf(
  { then, now, nowSince }: Awaited<ReturnType<typeof revisionsAt>>,
  timestamp: string,
): string | null {
  if (then !== now)
    return `policy or lists have changed since: the rest explains by revision ${now}, not by ${then ?? 'none'}`;
  const isSettled = nowSince === null || Date.parse(timestamp) - nowSince.getTime() > SETTLED_MS;
  return isSettled ? null : 'it was answered while a change came into force';
}
