/**
 * Explains a row of the query log, together with its logged values. The query is explained by the active policy if the
 * policy has not changed since. If it has changed, the query is explained by the generation that was active at that
 * time. If this generation is not on this node's disk, the active policy is used, and the response contains the reason.
 */
import type { ExplainAnswer, LoggedThen } from '../../../shared/api/explain-api.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { notFound } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { revisionsAt } from '../../policy/change/revision-store.ts';
import type { Explainer } from './explainer.ts';
import { type Inexact, inexactReason } from './inexact-reason.ts';
import type { PastExplainer } from './past-explainer.ts';

/** Dependencies of the explainer. */
export interface LoggedExplainerParts {
  readonly explainer: Pick<Explainer, 'explain'>;
  readonly past: Pick<PastExplainer, 'explainAt'>;
  /** `server.node_name`: only queries that this node answered can be explained by its generations. */
  readonly nodeName: string;
  readonly queryLog: { row(id: number, signal: AbortSignal): Promise<LoggedQuery | null> };
  readonly database: Queryable;
}

type Revisions = Awaited<ReturnType<typeof revisionsAt>>;

/** Milliseconds after which a stored revision is active on every node. */
const SETTLED_MS = 6000;

/** The explanation of a logged query. @throws {ApiError} 404 if the row does not exist */
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
  let cause = causeOf(before, timestamp);
  if (cause === null) {
    const explained = await parts.explainer.explain(question);
    const after = await revisionsAt(parts.database, moment);
    if (before.now === after.now) return { logged: toThen(logged, after, null), ...explained };
    cause = 'changed_while_explaining';
  }
  const isOwn = logged.node === parts.nodeName;
  if (isOwn) {
    const past = await parts.past.explainAt(question, moment.getTime(), signal);
    if (past !== null)
      return {
        logged: { ...toThen(logged, before, null), by: 'kept_generation' },
        ...withLoggedAnswer(past, logged),
      };
  }
  const inexact: Inexact = { cause, missing: isOwn ? 'not_stored' : 'other_node', node: logged.node };
  return { logged: toThen(logged, before, inexact), ...(await parts.explainer.explain(question)) };
}

/** Adds the results of later stages from the log: the server, the answer, and the answer checks. */
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
  revisions: Revisions,
  inexact: Inexact | null,
): LoggedThen {
  return {
    query_id: id,
    timestamp,
    status,
    block_source,
    block_rule,
    revision: revisions.then,
    current_revision: revisions.now,
    by: 'policy_in_force',
    exact: inexact === null,
    reason: inexact === null ? null : inexactReason(inexact, revisions),
    inexact,
  };
}

/** Reason why the active policy may differ from the policy at the time of the query; null if they are the same. */
function causeOf({ then, now, nowSince }: Revisions, timestamp: string): Inexact['cause'] | null {
  if (then !== now) return 'changed_since';
  const isSettled = nowSince === null || Date.parse(timestamp) - nowSince.getTime() > SETTLED_MS;
  return isSettled ? null : 'change_in_progress';
}
