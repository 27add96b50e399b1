/**
 * Explains a row of the query log, together with its logged values. If policy has not changed since, the active policy
 * explains the query. Otherwise the generation of its time does, if it is on this node's disk; if not, the active
 * policy, and the answer contains the reason.
 */
import type { ExplainAnswer, LoggedThen } from '../../../shared/api/explain-api.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { notFound } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { revisionsAt } from '../../policy/change/revision-store.ts';
import type { Explainer } from './explainer.ts';
import type { PastExplainer } from './past-explainer.ts';

/** Parts of it. */
export interface LoggedExplainerParts {
  readonly explainer: Pick<Explainer, 'explain'>;
  readonly past: Pick<PastExplainer, 'explainAt'>;
  /** `server.node_name`: only queries that this node answered can be explained by its generations. */
  readonly nodeName: string;
  readonly queryLog: { row(id: number, signal: AbortSignal): Promise<LoggedQuery | null> };
  readonly database: Queryable;
}

type Revisions = Awaited<ReturnType<typeof revisionsAt>>;

/** Time after which a stored revision is active on every node. */
const SETTLED_MS = 6000;

/** The answer to a logged query. @throws {ApiError} 404 if the row does not exist */
export async function explainLogged(
  parts: LoggedExplainerParts,
  id: number,
  signal: AbortSignal,
): Promise<ExplainAnswer> {
  const logged = await parts.queryLog.row(id, signal);
  if (logged === null) throw notFound(`query ${id}`);
  const { domain, type, client, client_id: clientId, timestamp } = logged;
  const question = { domain, type, client, ...(clientId === null ? {} : { clientId }) };
  const moment = new Date(timestamp);
  const before = await revisionsAt(parts.database, moment);
  let reason = reasonOf(before, timestamp);
  if (reason === null) {
    const explained = await parts.explainer.explain(question);
    const after = await revisionsAt(parts.database, moment);
    if (before.now === after.now) return { logged: toThen(logged, after, null), ...explained };
    reason = 'policy changed while this was being explained';
  }
  if (logged.node !== parts.nodeName)
    reason += `; only the node that answered, ${logged.node}, may have the policy of that time`;
  else {
    const past = await parts.past.explainAt(question, moment.getTime(), signal);
    if (past !== null)
      return {
        logged: { ...toThen(logged, before, null), by: 'kept_generation' },
        ...withLoggedAnswer(past, logged),
      };
    reason += '; the generation of that time is not stored';
  }
  return { logged: toThen(logged, before, reason), ...(await parts.explainer.explain(question)) };
}

/** From the upstreams on, the log has the rest: the server, the answer, and the results of the answer checks. */
function withLoggedAnswer(past: ExplainAnswer, logged: LoggedQuery): ExplainAnswer {
  if (past.stages.at(-1)?.verdict !== 'unresolved') return past;
  const { status, rcode, answers, upstream } = logged;
  return {
    ...past,
    status,
    upstreams: past.upstreams && { ...past.upstreams, answered_by: upstream },
    answer: answers === null ? null : { rcode, answers },
  };
}

function toThen(
  { id, timestamp, status, block_source, block_rule }: LoggedQuery,
  { then, now }: Revisions,
  reason: string | null,
): LoggedThen {
  return {
    query_id: id,
    timestamp,
    status,
    block_source,
    block_rule,
    revision: then,
    current_revision: now,
    by: 'policy_in_force',
    exact: reason === null,
    reason,
  };
}

function reasonOf({ then, now, nowSince }: Revisions, timestamp: string): string | null {
  if (then !== now) {
    const before = then === null ? 'the state before the first revision' : `revision ${then}`;
    return `policy or lists have changed since: the rest is explained by revision ${now}, not by ${before}`;
  }
  const isSettled = nowSince === null || Date.parse(timestamp) - nowSince.getTime() > SETTLED_MS;
  return isSettled ? null : 'it was answered while a change was being applied';
}
