/**
 * The override of the group's schedule (contract: decision order). `BlockAll` answers every question, local
 * names too, as `blocking.mode` wants it; `AllowAll` takes the query past all blocking: services, rules,
 * lists, safe search, and the names that its answer leads to.
 */
import { ExtendedError } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { GroupOverrideCode } from '../../shared/snapshot/policy-table.ts';
import { type Query, Verdict, type VerdictCode } from '../query/query.ts';
import { answerBlocked } from '../respond/block-answer.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Whether nothing may block what the client's group asks. */
export function isUnfiltered({ groupIndex }: Query, { policy }: OpenSnapshot): boolean {
  return !policy.blockingEnabled || policy.groupOverride(groupIndex) === GroupOverrideCode.AllowAll;
}

/** Blocks the query, or notes whether anything may block it. */
export function scheduleOverrideStage(query: Query, snapshot: OpenSnapshot): VerdictCode {
  const { policy } = snapshot;
  query.isUnfiltered = isUnfiltered(query, snapshot);
  const override = policy.groupOverride(query.groupIndex);
  if (query.isUnfiltered || override !== GroupOverrideCode.BlockAll) return Verdict.CONTINUE;
  query.status = QueryStatus.BLOCKED_SCHEDULE;
  query.cached = 0;
  query.replyFlags = 0;
  query.answersLength = 0;
  query.answersCount = 0;
  query.authorityCount = 0;
  answerBlocked(query, policy, ExtendedError.FILTERED);
  return Verdict.ANSWERED;
}
